"""Writes a collection of many items to a file that gnome-keyring finds when it starts.

gnome-keyring 42.1 takes eight minutes to store 10,000 items one by one.
"""

from works import REPOSITORY, SERVICE

BORN = 1_700_000_000  # each item is a second newer than the one before


def written(name, count):
    """Writes the passwords of `count` accounts to a file, and returns its path."""
    lines = section("keyring", {
        "display-name": "given", "ctime": BORN, "mtime": BORN, "lock-on-idle": "false",
        "lock-after": "false"})
    for number in range(count):
        lines += item(number)
    path = REPOSITORY / f".build/benchmarks/{name}.keyring"
    path.write_text("\n".join(lines))
    return path


def item(number):
    """Returns the lines of a password, as the library stores it."""
    account, item = f"account-{number}", number + 1
    lines = section(item, {
        "item-type": 0, "display-name": f"{SERVICE}: {account}", "secret": f"the secret of {account}",
        "mtime": BORN + number, "ctime": BORN + number})
    attributes = {
        "service": SERVICE, "swift-keyring:key": "password:service,username", "username": account,
        "xdg:schema": "org.freedesktop.Secret.Generic"}
    for index, (key, value) in enumerate(attributes.items()):
        lines += section(f"{item}:attribute{index}", {"name": key, "type": "string", "value": value})
    return lines


def section(name, values):
    return [f"[{name}]", *(f"{key}={value}" for key, value in values.items()), ""]
