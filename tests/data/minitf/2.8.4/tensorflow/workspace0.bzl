"""What is left when all rule repositories are there."""

def workspace():
    native.bind(name = "answer", actual = "@minitf_answer//:answer")

tf_workspace0 = workspace
