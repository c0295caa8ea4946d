# An agent that does what it was asked: it mends the login, and nothing else.
cat > src/auth/login.sh <<'END'
# Prints "welcome NAME", or fails when there is no name.
login() {
    [ -n "${1:-}" ] || return 1
    echo "welcome $1"
}
END
echo "agent: fixed the login bug"
