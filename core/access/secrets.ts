import {
  type KeyObject, createCipheriv, createDecipheriv, createHmac, createSecretKey, hash, hkdfSync, randomBytes,
  timingSafeEqual
} from 'node:crypto'

/** Returns the SHA-256 in hex, the form in which tokens of at least 256 random bits are stored. */
export const sha256 = (text: string) => hash('sha256', text)

/** Returns a hash that changes with the password of an account but does not reveal the password hash. */
export const passwordMarkOf = (passwordHash: string | null | undefined): string => sha256(passwordHash ?? '')

/** Compares two texts in constant time, whatever their lengths. */
export function isEqualSecret (a: string, b: string): boolean {
  return timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))
}

export interface Secrets {
  /** Returns a key of 32 bytes for one purpose, for code that does its own cryptography. */
  key (purpose: string): Uint8Array
  /** Returns an unforgeable signature of `text` for one purpose: base64url HMAC-SHA-256. */
  sign (purpose: string, text: string): string
  /** Encrypts text so that only this server's key can read it: AES-256-GCM. */
  seal (purpose: string, text: string): string
  /** Returns the decrypted text, or null if it was sealed with another key or changed since. */
  open (purpose: string, sealed: string): string | null
}

/**
 * Creates the cryptography of the server. Keys for each purpose are derived from the server's key (HKDF-SHA-256), so
 * that no key has two purposes.
 */
export function createSecrets (secretKey: string): Secrets {
  // Cached as KeyObject, because creating one from bytes costs several times as much as a signature.
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
        // A wrong key and a changed text cannot be told apart: neither can be decrypted.
        return null
      }
    }
  }
}
