"""The one error of the compiler."""


class CannotCompile(TypeError):
    """A kernel uses what kernels cannot use. The text names the kernel, the line and what would be right."""
