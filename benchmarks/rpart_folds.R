# rpart's own cross-validation on given folds; prints one line of JSON: CPU seconds of each run, accuracy of folds.
# Arguments: folder that holds table.bin (float64, by columns), labels.txt and folds.txt (from 1); rows; columns;
# minimal leaf; most depth; runs.
suppressPackageStartupMessages(library(rpart))
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
numbers <- as.integer(given[-1])
rows <- numbers[1]
columns <- numbers[2]
values <- readBin(file.path(folder, "table.bin"), "double", n = rows * columns, size = 8)
table <- as.data.frame(matrix(values, nrow = rows, ncol = columns))
labels <- readLines(file.path(folder, "labels.txt"))
folds <- as.integer(readLines(file.path(folder, "folds.txt")))
settings <- rpart.control(minsplit = 2, minbucket = numbers[3], cp = 0, xval = folds, maxcompete = 0, maxsurrogate = 0,
                          maxdepth = numbers[4])
seconds <- numeric(numbers[5])
for (run in seq_along(seconds)) {
  seconds[run] <- sum(system.time({
    table$label <- factor(labels)
    model <- rpart(label ~ ., data = table, method = "class", control = settings)
  })[c("user.self", "sys.self")])
}
# The last row of the table of complexities is the full tree; errors are relative to that of the root.
found <- model$cptable
root <- 1 - max(table(labels)) / rows
cat(sprintf('{"seconds": [%s], "accuracy": %.6f}\n',
            paste(format(seconds, digits = 6, scientific = FALSE, trim = TRUE), collapse = ", "),
            1 - root * found[nrow(found), "xerror"]))
