import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'

/** 128 MiB and some tenths of a second for each guess: https://datatracker.ietf.org/doc/html/rfc7914 */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 ** 2 }
const [MARK, SALT_BYTES, IV_BYTES, TAG_BYTES] = [Buffer.from('svc1'), 16, 12, 16]
const HEAD_BYTES = MARK.length + SALT_BYTES + IV_BYTES

const deriveKey = (passphrase: string, salt: Buffer): Promise<Buffer> => new Promise((resolve, reject) => {
  scrypt(passphrase.normalize('NFKC'), salt, 32, COST, (err, key) => { if (err === null) resolve(key); else reject(err) })
})

/** Encrypts the secrets of a backup: AES-256-GCM with a key derived from the passphrase by scrypt. */
export async function sealWith (passphrase: string, content: Buffer): Promise<Buffer> {
  const [salt, iv] = [randomBytes(SALT_BYTES), randomBytes(IV_BYTES)]
  const cipher = createCipheriv('aes-256-gcm', await deriveKey(passphrase, salt), iv)
  return Buffer.concat([MARK, salt, iv, cipher.update(content), cipher.final(), cipher.getAuthTag()])
}

/** Decrypts the content; null if the passphrase is wrong. */
export async function openWith (passphrase: string, sealed: Buffer): Promise<Buffer | null> {
  if (sealed.length < HEAD_BYTES + TAG_BYTES || !sealed.subarray(0, MARK.length).equals(MARK)) return null
  const salt = sealed.subarray(MARK.length, MARK.length + SALT_BYTES)
  const decipher = createDecipheriv('aes-256-gcm', await deriveKey(passphrase, salt), sealed.subarray(MARK.length + SALT_BYTES, HEAD_BYTES))
  decipher.setAuthTag(sealed.subarray(-TAG_BYTES))
  try {
    return Buffer.concat([decipher.update(sealed.subarray(HEAD_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    // A wrong passphrase and a changed ciphertext are indistinguishable.
    return null
  }
}
