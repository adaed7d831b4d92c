import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import type { Queryable } from './db.ts'
import { StartError } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'
import { writePrivate } from '../files/write-like.ts'

/**
 * A data directory and its database have the same UUID: in the file `identity` and in the row of `installation`.
 * Several machines on one database have it in each of their data directories; a backup of either half contains it.
 */
const FILE = 'identity'
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export interface DatabasePair {
  dataDir: string
  pool: Queryable
  /** True if the directory contains uploads of which the database knows none. */
  isForeign (): Promise<boolean>
  /** The command that joins the two. */
  adoptCommand: string
}

/** True if the data directory had a database before. */
export const hasIdentity = (dataDir: string): boolean => existsSync(join(dataDir, FILE))

async function readDirectory (dataDir: string): Promise<string | null> {
  const file = join(dataDir, FILE)
  const text = await readFile(file, 'utf8').catch((err: unknown) => {
    if (errorCode(err) === 'ENOENT') return null
    throw new StartError(`${file} cannot be read: ${(err as Error).message}. Give this user the right to read it.`, { cause: err })
  })
  if (text === null) return null
  const identity = text.trim()
  if (UUID.test(identity)) return identity
  throw new StartError(`${file} holds ${JSON.stringify(identity.slice(0, 50))}, which is not a UUID. Restore the file from a backup, ` +
    'or delete it if the database belongs to this data directory; the next start writes the file again.')
}

async function writeDirectory (dataDir: string, identity: string): Promise<void> {
  const file = join(dataDir, FILE)
  const part = `${file}.${randomUUID()}.part`
  await writePrivate(part, `${identity}\n`)
  await rename(part, file)
}

async function readDatabase (pool: Queryable): Promise<string | null> {
  return (await pool.query<{ identity: string }>('select identity from installation')).rows[0]?.identity ?? null
}

/** @returns the identity that the database has afterwards, because another machine may have written first */
async function writeDatabase (pool: Queryable, identity: string): Promise<string> {
  await pool.query('insert into installation (identity) values ($1) on conflict do nothing', [identity])
  return await readDatabase(pool) ?? identity
}

const refusePair = ({ dataDir, adoptCommand }: DatabasePair, reason: string) => new StartError(
  `The data directory ${dataDir} and the database do not belong together: ${reason}. Nothing was changed. Point SVC_DATA_DIR ` +
  'and SVC_DATABASE_URL at a matching pair, or restore the missing one from a backup. To join these two from ' +
  `now on: ${adoptCommand}`)

/**
 * Makes sure that the data directory and the database belong together. A half without an identity gets that of the
 * other half.
 *
 * @throws StartError with the remedy if they do not belong together.
 */
export async function requirePair (pair: DatabasePair): Promise<void> {
  const { dataDir, pool } = pair
  const [folderIdentity, databaseIdentity] = [await readDirectory(dataDir), await readDatabase(pool)]
  if (folderIdentity !== null && folderIdentity === databaseIdentity) return
  if (folderIdentity !== null && databaseIdentity !== null) throw refusePair(pair, `the directory is ${folderIdentity}, the database is that of ${databaseIdentity}`)
  if (await pair.isForeign()) throw refusePair(pair, 'the database knows none of the saves, states and screenshots in that directory')
  const identity = await writeDatabase(pool, folderIdentity ?? databaseIdentity ?? randomUUID())
  if (folderIdentity === null) await writeDirectory(dataDir, identity)
  else if (folderIdentity !== identity) throw refusePair(pair, `the directory is ${folderIdentity}, the database is that of ${identity}`)
}

/**
 * Writes the identity of this database to the data directory, whatever it was before.
 *
 * @returns the identity that both have now
 */
export async function joinDatabase (dataDir: string, pool: Queryable): Promise<string> {
  const identity = await writeDatabase(pool, randomUUID())
  await writeDirectory(dataDir, identity)
  return identity
}
