import {
  type KeyObject, createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, hkdfSync, randomBytes,
  timingSafeEqual
} from 'node:crypto'

/** Hex SHA-256: how tokens of at least 256 random bits are stored. */
export const sha256 = (text: string) => hash('sha256', text)

/** What tells one password of an account from the next without being it. */
export const passwordMarkOf = (passwordHash: string | null | undefined): string => sha256(passwordHash ?? '')

/** Compares in constant time, whatever the lengths. */
export function isEqualSecret (a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

export interface Secrets {
  /** 32 bytes for one purpose, for what does its own cryptography. */
  key (purpose: string): Uint8Array
  /** An unforgeable mark of `text` for one purpose: base64url HMAC-SHA-256. */
  sign (purpose: string, text: string): string
  /** Text that only this server's key can read: AES-256-GCM. */
  seal (purpose: string, text: string): string
  /** The sealed text, or null when it was sealed with another key or changed since. */
  open (purpose: string, sealed: string): string | null
}

/** Keys for each purpose are derived from the server's key (HKDF-SHA-256), so that none serves two ends. */
export function createSecrets (secretKey: string): Secrets {
  // As the library wants them: to make a key of bytes costs several times what signing with it does.
  const keys = new Map<string, KeyObject>()
  function keyFor (purpose: string): KeyObject {
    let key = keys.get(purpose)
    if (key === undefined) {
      key = createSecretKey(Buffer.from(hkdfSync('sha256', secretKey, 'svc', purpose, 32)))
      keys.set(purpose, key)
    }
    return key
  }
  return {
    key: (purpose) => keyFor(purpose).export(),
    sign: (purpose, text) => createHmac('sha256', keyFor(purpose)).update(text).digest('base64url'),
    seal (purpose, text) {
      const iv = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', keyFor(purpose), iv)
      return Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]).toString('base64url')
    },
    open (purpose, sealed) {
      const bytes = Buffer.from(sealed, 'base64url')
      if (bytes.length < 28) return null
      const decipher = createDecipheriv('aes-256-gcm', keyFor(purpose), bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(-16))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString('utf8')
      } catch {
        // A wrong key and a changed text look alike: neither can be read.
        return null
      }
    }
  }
}
