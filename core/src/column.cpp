#include "hornbeam/column.hpp"
