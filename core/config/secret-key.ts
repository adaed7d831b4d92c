import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'
import { readText } from './config-file.ts'
import { createDataDir, explainDataDir } from './data-dir.ts'

function createSecretKey (dataDir: string, file: string): void {
  createDataDir(dataDir)
  try {
    writeFileSync(file, randomBytes(32).toString('hex') + '\n', { mode: 0o600, flag: 'wx' })
  } catch (err) {
    // Another process of this server created the file first.
    if (errorCode(err) === 'EEXIST' && existsSync(file)) return
    throw explainDataDir(dataDir, err)
  }
}

/**
 * Reads the secret key of a data directory, and creates it at the first start.
 *
 * @throws StartError if it cannot be read or created, or is too short
 */
export function readSecretKey (dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) createSecretKey(dataDir, file)
  const key = readText(file, 'run this as the user of the server').trim()
  if (key.length < 16) {
    throw new StartError(`${file} holds no usable key. Put at least 16 random characters into it, or set ` +
      'SVC_AUTH_SECRET_KEY.')
  }
  return key
}
