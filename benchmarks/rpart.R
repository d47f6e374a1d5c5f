# Fits and asks rpart, and prints one line of JSON: CPU seconds of each run, accuracy on the training rows.
# Arguments: folder that holds table.bin (float64, by columns) and labels.txt; rows; columns; minimal leaf; runs.
suppressPackageStartupMessages(library(rpart))
given <- commandArgs(trailingOnly = TRUE)
folder <- given[1]
rows <- as.integer(given[2])
columns <- as.integer(given[3])
leaf <- as.integer(given[4])
runs <- as.integer(given[5])
values <- readBin(file.path(folder, "table.bin"), "double", n = rows * columns, size = 8)
table <- as.data.frame(matrix(values, nrow = rows, ncol = columns))
labels <- readLines(file.path(folder, "labels.txt"))
settings <- rpart.control(minsplit = 2, minbucket = leaf, cp = 0, xval = 0, maxcompete = 0, maxsurrogate = 0, maxdepth = 30)
cpu <- function(timing) sum(timing[c("user.self", "sys.self")])
fits <- numeric(runs)
asks <- numeric(runs)
for (run in seq_len(runs)) {
  fits[run] <- cpu(system.time({
    table$label <- factor(labels)
    model <- rpart(label ~ ., data = table, method = "class", control = settings)
  }))
  asks[run] <- cpu(system.time(answer <- predict(model, table, type = "class")))
}
series <- function(x) paste(format(x, digits = 6, scientific = FALSE, trim = TRUE), collapse = ", ")
cat(sprintf('{"fit": [%s], "predict": [%s], "accuracy": %.6f}\n', series(fits), series(asks),
            mean(as.character(answer) == labels)))
