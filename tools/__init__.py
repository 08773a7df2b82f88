"""What is run on the project itself: on its wheel, its pages, its dependencies."""
