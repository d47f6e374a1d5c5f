"""Hornbeam's native core."""



class EncodedTable:
    pass
