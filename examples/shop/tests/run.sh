# The tests of the shop: every line must hold.
set -eu
. src/auth/login.sh
. src/cart/total.sh
[ "$(login ann)" = "welcome ann" ]
[ "$(total 100 250)" = 350 ]
echo "2 tests passed"
