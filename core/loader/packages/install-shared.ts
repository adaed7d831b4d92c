import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { createSecrets } from '../../access/secrets.ts'
import type { Config } from '../../config/config.ts'
import { directUrlOf } from '../../config/database-urls.ts'
import { StartError } from '../../errors.ts'
import { errorCode } from '../../files/fs-error.ts'
import { KEEP_ALIVE } from '../../database/database.ts'
import { withSession } from '../../database/session.ts'
import { linkSdk } from './packages.ts'
import { createPluginsFolder, pluginsFolder, readDependencies } from './plugins-folder.ts'
import { NPM_FLAGS, runNpm } from './run-npm.ts'
import { type SharedPackage, readSharedPackages, readTarball } from './shared-packages.ts'

/** The folder of tarballs below that of community plugins. The file name of a tarball is its SHA-256. */
const TARBALLS = 'tarballs'
/** The key of the advisory lock on installations, because hosts may share a folder. Nothing else uses the number. */
const INSTALL_LOCK = 7_364_150
const LOCK_NOT_AVAILABLE = '55P03'
const CONNECT_MS = 5_000
/** npm itself retries for minutes when the registry does not answer, and a start waits for it. */
const NPM_MS = 60_000

/** The differences between a folder of plugins and the packages of all hosts. */
interface Differences { missing: SharedPackage[], surplus: string[] }

export const specOf = (sha256: string): string => `file:${TARBALLS}/${sha256}.tgz`

/** Compares a folder with the packages of all hosts. Packages that only this host has stay. */
function findDifferences (folder: string, packages: readonly SharedPackage[]): Differences {
  const installed = readDependencies(folder)
  const isInstalled = ({ name, sha256 }: SharedPackage) => installed[name] === specOf(sha256) &&
    existsSync(join(folder, 'node_modules', name, 'package.json'))
  const removed = packages.filter(({ version }) => version === null)
  return {
    missing: packages.filter((pack) => pack.version !== null && !isInstalled(pack)),
    surplus: removed.map(({ name }) => name).filter((name) => Object.hasOwn(installed, name))
  }
}

/** Runs work on the database of all hosts, on one connection. */
export const withPackages = <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => withSession({
  connectionString: url, connectionTimeoutMillis: CONNECT_MS, application_name: 'svc plugins', ...KEEP_ALIVE
}, work)

interface AloneOptions {
  /** Ends the wait for other hosts. */
  signal?: AbortSignal | undefined
  /** The longest wait for other hosts. */
  waitMs?: number
}

async function claimInstallation (client: pg.Client, { signal, waitMs = NPM_MS }: AloneOptions): Promise<void> {
  const endWait = () => { client.end().catch(() => { /* the statement fails too */ }) }
  signal?.addEventListener('abort', endWait)
  try {
    signal?.throwIfAborted()
    await client.query(`set lock_timeout = ${waitMs}`)
    await client.query('select pg_advisory_lock($1)', [INSTALL_LOCK])
  } catch (err) {
    if (errorCode(err) !== LOCK_NOT_AVAILABLE) throw err
    throw new StartError(
      `Another host has installed plugins for ${waitMs / 1_000} s. Wait until it has finished, then try again.`, { cause: err })
  } finally {
    signal?.removeEventListener('abort', endWait)
  }
}

/** Runs an installation while no other host installs. */
export async function installAlone<T> (
  client: pg.Client, work: () => Promise<T>, options: AloneOptions = {}
): Promise<T> {
  await claimInstallation(client, options)
  try {
    return await work()
  } finally {
    // The database releases the lock of a lost session itself.
    await client.query('select pg_advisory_unlock($1)', [INSTALL_LOCK]).catch(() => undefined)
  }
}

/** Writes a tarball to the folder of plugins. @returns its path */
export function writeTarball (folder: string, sha256: string, tarball: Buffer): string {
  const file = join(folder, TARBALLS, `${sha256}.tgz`)
  mkdirSync(join(folder, TARBALLS), { recursive: true })
  const part = `${file}.${process.pid}.tmp`
  writeFileSync(part, tarball)
  renameSync(part, file)
  return file
}

/** Deletes tarballs of packages that are no longer installed. */
export function deleteOldTarballs (folder: string): void {
  const specs = new Set(Object.values(readDependencies(folder)))
  const files = existsSync(join(folder, TARBALLS)) ? readdirSync(join(folder, TARBALLS)) : []
  for (const file of files) if (!specs.has(`file:${TARBALLS}/${file}`)) rmSync(join(folder, TARBALLS, file), { force: true })
}

/** Installs and removes packages by npm until the folder equals the rows. */
async function applyDifferences (
  client: pg.Client, folder: string, { missing, surplus }: Differences, closing: AbortSignal | undefined
): Promise<void> {
  const signal = AbortSignal.any([AbortSignal.timeout(NPM_MS), ...(closing === undefined ? [] : [closing])])
  const options = { signal, quotes: true }
  if (surplus.length > 0) await runNpm(folder, ['uninstall', '--prefix', folder, ...NPM_FLAGS, '--', ...surplus], options)
  const failures: unknown[] = []
  for (const pack of missing) {
    try {
      const file = writeTarball(folder, pack.sha256, await readTarball(client, pack))
      await runNpm(folder, ['install', '--prefix', folder, ...NPM_FLAGS, '--', file], options)
    } catch (err) {
      failures.push(err)
    }
  }
  deleteOldTarballs(folder)
  if (failures.length > 0) throw new AggregateError(failures, failures.map((err) => (err as Error).message).join('; '))
}

/** The result of one attempt to bring the plugins of a host to the state of all hosts. */
export interface Installed {
  /** The names of packages that were installed or removed. */
  changed: string[]
  /** The reason why the host still differs; null if it does not. */
  problem: string | null
}

const nameAll = ({ missing, surplus }: Differences): string[] =>
  [...missing.map(({ name, version }) => `${name} ${version}`), ...surplus.map((name) => `${name} (removed)`)]

async function install (client: pg.Client, config: Config, signal: AbortSignal | undefined): Promise<Installed> {
  const secrets = createSecrets(config.auth.secret_key)
  const read = () => readSharedPackages(client, secrets)
  const { packages, refused } = await read()
  const unsigned = refused.length === 0
    ? null
    : `${refused.join(', ')} cannot be installed, because another key of the server signed it; run svc plugins add again`
  const first = findDifferences(pluginsFolder(config.data_dir), packages)
  if (nameAll(first).length === 0) return { changed: [], problem: unsigned }
  const folder = createPluginsFolder(config.data_dir)
  return await installAlone(client, async () => {
    // Another process of this host, or one that shares the folder, may have installed them meanwhile.
    const { packages: current } = await read()
    const differences = findDifferences(folder, current)
    if (nameAll(differences).length === 0) return { changed: [], problem: unsigned }
    try {
      await applyDifferences(client, folder, differences, signal)
      linkSdk(config.data_dir)
      return { changed: nameAll(differences), problem: unsigned }
    } catch (err) {
      const rest = nameAll(findDifferences(folder, current))
      return { changed: [], problem: `${rest.join(', ')} could not be installed on this host: ${(err as Error).message}` }
    }
  }, { signal })
}

/**
 * Brings the plugins of this host to the state that all hosts of its database share. A host with the embedded database
 * is the only one, and its folder is the state.
 *
 * @param signal ends the attempt; npm has then ended, too
 */
export async function installSharedPackages (config: Config, signal?: AbortSignal): Promise<Installed> {
  const url = directUrlOf(config)
  if (url === undefined) return { changed: [], problem: null }
  try {
    return await withPackages(url, (client) => install(client, config, signal))
  } catch (err) {
    return { changed: [], problem: `The plugins of all hosts cannot be compared with those of this host: ${(err as Error).message}` }
  }
}
