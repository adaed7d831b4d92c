import { hash } from 'node:crypto'
import type { Secrets } from '../../access/secrets.ts'
import type { Queryable } from '../../database/db.ts'
import { StartError } from '../../errors.ts'

/** A channel of the database: a package was added for all hosts, or removed from all. */
export const PACKAGES_CHANGED = 'svc_plugin_packages'
/** A larger package would make backups and the memory of each host large. */
export const TARBALL_MAX_BYTES = 32 * 1024 * 1024
const PURPOSE = 'plugin-packages'

/** A plugin package that all hosts of a database must have, or must not have. */
export interface SharedPackage {
  name: string
  /** The exact version; null if the package was removed from all hosts. */
  version: string | null
  /** SHA-256 of the tarball in hexadecimal digits; empty for a removed package. */
  sha256: string
}

type Row = SharedPackage & { signature: string }

/** Only an operator has the key of the server, so nobody installs code by writing to the database. */
const signatureOf = (secrets: Secrets, { name, version, sha256 }: SharedPackage): string =>
  secrets.sign(PURPOSE, JSON.stringify([name, version, sha256]))

/** Reads the packages of all hosts. Those that another key of the server signed are refused. */
export async function readSharedPackages (
  database: Queryable, secrets: Secrets
): Promise<{ packages: SharedPackage[], refused: string[] }> {
  const { rows } = await database.query<Row>('select name, version, sha256, signature from plugin_packages order by stored_at, name')
  const isSigned = (row: Row) => row.signature === signatureOf(secrets, row)
  return {
    packages: rows.filter(isSigned).map(({ name, version, sha256 }) => ({ name, version, sha256 })),
    refused: rows.filter((row) => !isSigned(row)).map(({ name }) => name)
  }
}

/** Reads the tarball of a package. @throws StartError if it is not the one that was added */
export async function readTarball (database: Queryable, { name, sha256 }: SharedPackage): Promise<Buffer> {
  const { rows: [row] } = await database.query<{ tarball: Buffer | null }>(
    'select tarball from plugin_packages where name = $1 and sha256 = $2', [name, sha256])
  const tarball = row?.tarball ?? null
  if (tarball === null || hash('sha256', tarball) !== sha256) {
    throw new StartError(`The stored package ${name} is not the one that was added, because its SHA-256 differs. Add it again with svc plugins add.`)
  }
  return tarball
}

/** Stores a package for all hosts, or its removal from all, and notifies them. */
export async function storeSharedPackage (
  database: Queryable, secrets: Secrets, pack: SharedPackage, tarball: Buffer | null
): Promise<void> {
  await database.query(`insert into plugin_packages (name, version, sha256, tarball, signature) values ($1, $2, $3, $4, $5)
    on conflict (name) do update set version = excluded.version, sha256 = excluded.sha256, tarball = excluded.tarball,
      signature = excluded.signature, stored_at = now()`,
  [pack.name, pack.version, pack.sha256, tarball, signatureOf(secrets, pack)])
  await database.query('select pg_notify($1, $2)', [PACKAGES_CHANGED, pack.name])
}
