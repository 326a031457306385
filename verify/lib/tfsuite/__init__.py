"""What the checks share. Python 3.6 syntax; imports TensorFlow only inside functions."""
