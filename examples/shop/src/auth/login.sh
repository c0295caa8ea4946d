# Prints "welcome NAME", or fails when there is no name.
login() {
    echo "welcome $1"
}
