"""The files of ACE and TILDE: Prolog facts and rules, settings, and what they mean in our words."""
