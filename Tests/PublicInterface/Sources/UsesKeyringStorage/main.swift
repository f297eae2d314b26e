import KeyringStorage

print(ItemKey.password(service: "service", account: "account"))
