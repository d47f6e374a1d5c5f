"""The papers' experiments, run again and set beside their figures: Blockeel and Struyf's on cross-validation
and bagging, John's on C4.5 with a cross-validated m (`cvc45`), Gehrke's and others' on BOAT (`boat`), and
Esmeir and Markovitch's on anytime induction (`anytime`)."""
