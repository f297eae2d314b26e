// SPDX-License-Identifier: Apache-2.0
// The part of the SecItem interface that a keyring needs, declared as Swift sees it in Apple's SDK.
// Linux only; AppleKeychainModel implements it. See RULES.md.
#ifndef STAND_IN_SECURITY_H
#define STAND_IN_SECURITY_H

#include <CoreFoundation/CoreFoundation.h>

CF_ASSUME_NONNULL_BEGIN
CF_IMPLICIT_BRIDGING_ENABLED

// Functions: keychain/headers/SecItem.h, SecAccessControl.h, SecBase.h.

typedef struct CF_BRIDGED_TYPE(id) __SecAccessControl *SecAccessControlRef;

typedef CF_OPTIONS(CFOptionFlags, SecAccessControlCreateFlags) {
  kSecAccessControlUserPresence = 1u << 0,
  kSecAccessControlBiometryAny = 1u << 1,
  kSecAccessControlBiometryCurrentSet = 1u << 3,
  kSecAccessControlDevicePasscode = 1u << 4,
  kSecAccessControlCompanion = 1u << 5,
  kSecAccessControlOr = 1u << 14,
  kSecAccessControlAnd = 1u << 15,
  kSecAccessControlPrivateKeyUsage = 1u << 30,
  kSecAccessControlApplicationPassword = 1u << 31,
};

OSStatus SecItemAdd(
    CFDictionaryRef attributes, CFTypeRef _Nullable *_Nullable CF_RETURNS_RETAINED result);
OSStatus SecItemCopyMatching(
    CFDictionaryRef query, CFTypeRef _Nullable *_Nullable CF_RETURNS_RETAINED result);
OSStatus SecItemUpdate(CFDictionaryRef query, CFDictionaryRef attributesToUpdate);
OSStatus SecItemDelete(CFDictionaryRef query);
SecAccessControlRef _Nullable SecAccessControlCreateWithFlags(
    CFAllocatorRef _Nullable allocator, CFTypeRef protection, SecAccessControlCreateFlags flags,
    CFErrorRef _Nullable *_Nullable error);
CFTypeID SecAccessControlGetTypeID(void);
// OSX/libsecurity_keychain/lib/SecKeychain.h: macOS only.
typedef struct CF_BRIDGED_TYPE(id) __SecKeychain *SecKeychainRef;
typedef UInt32 SecKeychainStatus;
OSStatus SecKeychainGetStatus(
    SecKeychainRef _Nullable keychain, SecKeychainStatus *keychainStatus);
// Scripts/first-mac calls it. The model doesn't have it.
OSStatus SecKeychainSetUserInteractionAllowed(Boolean state);
CFStringRef _Nullable SecCopyErrorMessageString(OSStatus status, void *_Nullable reserved);

// Results: base/SecBase.h. What SecBasePriv.h names apart (a missing class, an unsupported return
// type and so on) is errSecParam there too.
CF_ENUM(OSStatus) {
  errSecSuccess = 0,
  errSecUnimplemented = -4,
  errSecParam = -50,
  errSecWrPerm = -61,
  errSecUserCanceled = -128,
  errSecMissingEntitlement = -34018,
  errSecRestrictedAPI = -34020,
  errSecNotAvailable = -25291,
  errSecAuthFailed = -25293,
  errSecNoSuchKeychain = -25294,
  errSecInvalidKeychain = -25295,
  errSecDuplicateItem = -25299,
  errSecItemNotFound = -25300,
  errSecNoSuchAttr = -25303,
  errSecInvalidItemRef = -25304,
  errSecNoSuchClass = -25306,
  errSecNoDefaultKeychain = -25307,
  errSecInteractionNotAllowed = -25308,
  errSecInvalidOwnerEdit = -25244,
  errSecDecode = -26275,
  errSecServiceNotAvailable = -67585,
};

// Constants: OSX/sec/Security/SecItemConstants.c. Each is a global variable for Swift.

CFStringRef SecStandInConstant(const char *value);

#define SEC_CONSTANT(name, value)                                                                  \
  static inline CFStringRef name##Constant(void)                                                   \
      __attribute__((swift_name("getter:" #name "()"))) {                                          \
    return SecStandInConstant(value);                                                              \
  }

SEC_CONSTANT(kSecClass, "class")
SEC_CONSTANT(kSecClassGenericPassword, "genp")
SEC_CONSTANT(kSecClassInternetPassword, "inet")
SEC_CONSTANT(kSecClassCertificate, "cert")
SEC_CONSTANT(kSecClassKey, "keys")
SEC_CONSTANT(kSecClassIdentity, "idnt")

SEC_CONSTANT(kSecAttrAccessible, "pdmn")
SEC_CONSTANT(kSecAttrAccessControl, "accc")
SEC_CONSTANT(kSecAttrAccessGroup, "agrp")
SEC_CONSTANT(kSecAttrCreationDate, "cdat")
SEC_CONSTANT(kSecAttrModificationDate, "mdat")
SEC_CONSTANT(kSecAttrDescription, "desc")
SEC_CONSTANT(kSecAttrComment, "icmt")
SEC_CONSTANT(kSecAttrCreator, "crtr")
SEC_CONSTANT(kSecAttrType, "type")
SEC_CONSTANT(kSecAttrLabel, "labl")
SEC_CONSTANT(kSecAttrIsInvisible, "invi")
SEC_CONSTANT(kSecAttrIsNegative, "nega")
SEC_CONSTANT(kSecAttrAccount, "acct")
SEC_CONSTANT(kSecAttrService, "svce")
SEC_CONSTANT(kSecAttrGeneric, "gena")
SEC_CONSTANT(kSecAttrSecurityDomain, "sdmn")
SEC_CONSTANT(kSecAttrServer, "srvr")
SEC_CONSTANT(kSecAttrProtocol, "ptcl")
SEC_CONSTANT(kSecAttrAuthenticationType, "atyp")
SEC_CONSTANT(kSecAttrPort, "port")
SEC_CONSTANT(kSecAttrPath, "path")
SEC_CONSTANT(kSecAttrApplicationTag, "atag")
SEC_CONSTANT(kSecAttrSynchronizable, "sync")
SEC_CONSTANT(kSecAttrSynchronizableAny, "syna")
SEC_CONSTANT(kSecAttrAccessGroupToken, "com.apple.token")

SEC_CONSTANT(kSecAttrAccessibleWhenUnlocked, "ak")
SEC_CONSTANT(kSecAttrAccessibleAfterFirstUnlock, "ck")
SEC_CONSTANT(kSecAttrAccessibleWhenUnlockedThisDeviceOnly, "aku")
SEC_CONSTANT(kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly, "cku")
SEC_CONSTANT(kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly, "akpu")

SEC_CONSTANT(kSecMatchItemList, "m_ItemList")
SEC_CONSTANT(kSecMatchSearchList, "m_SearchList")
SEC_CONSTANT(kSecMatchCaseInsensitive, "m_CaseInsensitive")
SEC_CONSTANT(kSecMatchLimit, "m_Limit")
SEC_CONSTANT(kSecMatchLimitOne, "m_LimitOne")
SEC_CONSTANT(kSecMatchLimitAll, "m_LimitAll")

SEC_CONSTANT(kSecReturnData, "r_Data")
SEC_CONSTANT(kSecReturnAttributes, "r_Attributes")
SEC_CONSTANT(kSecReturnRef, "r_Ref")
SEC_CONSTANT(kSecReturnPersistentRef, "r_PersistentRef")
SEC_CONSTANT(kSecValueData, "v_Data")
SEC_CONSTANT(kSecValueRef, "v_Ref")
SEC_CONSTANT(kSecValuePersistentRef, "v_PersistentRef")

SEC_CONSTANT(kSecUseDataProtectionKeychain, "nleg")
SEC_CONSTANT(kSecUseOperationPrompt, "u_OpPrompt")
SEC_CONSTANT(kSecUseAuthenticationUI, "u_AuthUI")
SEC_CONSTANT(kSecUseAuthenticationUIAllow, "u_AuthUIA")
SEC_CONSTANT(kSecUseAuthenticationUIFail, "u_AuthUIF")
SEC_CONSTANT(kSecUseAuthenticationUISkip, "u_AuthUIS")
SEC_CONSTANT(kSecUseAuthenticationContext, "u_AuthCtx")

SEC_CONSTANT(kSecAttrProtocolFTP, "ftp ")
SEC_CONSTANT(kSecAttrProtocolFTPAccount, "ftpa")
SEC_CONSTANT(kSecAttrProtocolHTTP, "http")
SEC_CONSTANT(kSecAttrProtocolIRC, "irc ")
SEC_CONSTANT(kSecAttrProtocolNNTP, "nntp")
SEC_CONSTANT(kSecAttrProtocolPOP3, "pop3")
SEC_CONSTANT(kSecAttrProtocolSMTP, "smtp")
SEC_CONSTANT(kSecAttrProtocolSOCKS, "sox ")
SEC_CONSTANT(kSecAttrProtocolIMAP, "imap")
SEC_CONSTANT(kSecAttrProtocolLDAP, "ldap")
SEC_CONSTANT(kSecAttrProtocolAppleTalk, "atlk")
SEC_CONSTANT(kSecAttrProtocolAFP, "afp ")
SEC_CONSTANT(kSecAttrProtocolTelnet, "teln")
SEC_CONSTANT(kSecAttrProtocolSSH, "ssh ")
SEC_CONSTANT(kSecAttrProtocolFTPS, "ftps")
SEC_CONSTANT(kSecAttrProtocolHTTPS, "htps")
SEC_CONSTANT(kSecAttrProtocolHTTPProxy, "htpx")
SEC_CONSTANT(kSecAttrProtocolHTTPSProxy, "htsx")
SEC_CONSTANT(kSecAttrProtocolFTPProxy, "ftpx")
SEC_CONSTANT(kSecAttrProtocolSMB, "smb ")
SEC_CONSTANT(kSecAttrProtocolRTSP, "rtsp")
SEC_CONSTANT(kSecAttrProtocolRTSPProxy, "rtsx")
SEC_CONSTANT(kSecAttrProtocolDAAP, "daap")
SEC_CONSTANT(kSecAttrProtocolEPPC, "eppc")
SEC_CONSTANT(kSecAttrProtocolIPP, "ipp ")
SEC_CONSTANT(kSecAttrProtocolNNTPS, "ntps")
SEC_CONSTANT(kSecAttrProtocolLDAPS, "ldps")
SEC_CONSTANT(kSecAttrProtocolTelnetS, "tels")
SEC_CONSTANT(kSecAttrProtocolIMAPS, "imps")
SEC_CONSTANT(kSecAttrProtocolIRCS, "ircs")
SEC_CONSTANT(kSecAttrProtocolPOP3S, "pops")

SEC_CONSTANT(kSecAttrAuthenticationTypeNTLM, "ntlm")
SEC_CONSTANT(kSecAttrAuthenticationTypeMSN, "msna")
SEC_CONSTANT(kSecAttrAuthenticationTypeDPA, "dpaa")
SEC_CONSTANT(kSecAttrAuthenticationTypeRPA, "rpaa")
SEC_CONSTANT(kSecAttrAuthenticationTypeHTTPBasic, "http")
SEC_CONSTANT(kSecAttrAuthenticationTypeHTTPDigest, "httd")
SEC_CONSTANT(kSecAttrAuthenticationTypeHTMLForm, "form")
SEC_CONSTANT(kSecAttrAuthenticationTypeDefault, "dflt")

CF_IMPLICIT_BRIDGING_DISABLED
CF_ASSUME_NONNULL_END

#endif
