import { hash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import type pg from 'pg'
import { describePlugin, inspectPlugins } from './cli.ts'
import { restoreOnFailure } from './former-packages.ts'
import { createSecrets } from '../../core/access/secrets.ts'
import type { Config } from '../../core/config/config.ts'
import { directUrlOf } from '../../core/config/database-urls.ts'
import type { Features } from '../../core/feature.ts'
import { EXIT_CODES, StartError } from '../../core/errors.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { inspectInProcess } from '../../core/loader/inspection/inspect-in-process.ts'
import { deleteOldTarballs, installAlone, specOf, withPackages, writeTarball } from '../../core/loader/packages/install-shared.ts'
import { linkSdk, listPluginPackages } from '../../core/loader/packages/packages.ts'
import { type Dependencies, createPluginsFolder, pluginsFolder, readDependencies } from '../../core/loader/packages/plugins-folder.ts'
import { NPM_FLAGS, runNpm } from '../../core/loader/packages/run-npm.ts'
import { TARBALL_MAX_BYTES, readSharedPackages, storeSharedPackage } from '../../core/loader/packages/shared-packages.ts'
import type { PluginRecord } from '../../core/loader/registry.ts'
import { listExporterNames } from '../library/exporter-names.ts'
import { readServerState } from '../../core/supervisor/server-state.ts'

const UNDEFINED_TABLE = '42P01'
/** The beginning of the names of folders in which npm packs. */
const PACK_PREFIX = '.pack-'

/** Resolves `./folder` against the current folder, because npm runs in another one. */
function readSpec (spec: string): string {
  if (spec.startsWith('-')) {
    throw new StartError(`'${spec}' is not a package name. Give a name, a folder or a tarball.`, { exitCode: EXIT_CODES.usage })
  }
  return existsSync(spec) ? resolve(spec) : spec
}

/** Finds the dependency that came with `spec`: the changed one, else the one of this name. */
export function findAdded (before: Dependencies, after: Dependencies, spec: string): string | undefined {
  const names = Object.keys(after)
  return names.find((name) => before[name] !== after[name]) ??
    names.find((name) => spec === name || spec.startsWith(`${name}@`)) ??
    names.find((name) => after[name]?.startsWith('file:') === true && basename(after[name]) === basename(spec))
}

function printRestartHint ({ data_dir: dataDir, database }: Config): void {
  if (database.url !== undefined) {
    process.stdout.write('All hosts of the database follow. Restart each server for this to take effect.\n')
  } else if (readServerState(dataDir) !== null) process.stdout.write('Restart the server for this to take effect.\n')
}

const isUsable = ({ status }: PluginRecord): boolean => status === 'active' || status === 'disabled'

/** Returns the plugin that npm installed. @throws StartError if there is none, or it would fail at the next start */
async function requireUsable (config: Config, given: string, name: string | undefined): Promise<PluginRecord> {
  const find = async (ignoresStored: boolean) =>
    // The plugin is loaded last, because of two plugins with one name the first works.
    (await inspectPlugins(config, { last: name, ignoresStored }))
      .find((candidate) => candidate.package === name && candidate.origin === 'community')
  const record = await find(false)
  if (record === undefined) throw new StartError(`'${given}' contains no plugin, so it was not installed; see svc plugins.`)
  if (isUsable(record)) return record
  const unset = await find(true)
  // A stored setting that the plugin refuses can only be corrected while the plugin is installed.
  if (unset !== undefined && isUsable(unset)) return record
  throw new StartError(`${record.package} ${record.version ?? ''} was not installed, because it cannot be used: ` +
    `${describePlugin(record)}. Correct it, then add it again.`)
}

const npmInstall = (folder: string, spec: string) => runNpm(folder, ['install', '--prefix', folder, ...NPM_FLAGS, '--', spec])

async function addHere (config: Config, given: string, spec: string): Promise<PluginRecord> {
  const folder = createPluginsFolder(config.data_dir)
  const before = readDependencies(folder)
  return await restoreOnFailure(folder, async () => {
    await npmInstall(folder, spec)
    linkSdk(config.data_dir)
    return await requireUsable(config, given, findAdded(before, readDependencies(folder), spec))
  })
}

/** Deletes what interrupted commands left. Only one command packs at a time. */
function deletePacked (folder: string): void {
  const names = readdirSync(folder).filter((name) => name.startsWith(PACK_PREFIX))
  for (const name of names) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Makes the tarball of a package, whatever its origin. npm runs none of its scripts. */
async function packTarball (folder: string, spec: string): Promise<Buffer> {
  deletePacked(folder)
  const packed = mkdtempSync(join(folder, PACK_PREFIX))
  try {
    await runNpm(packed, ['pack', '--pack-destination', packed, ...NPM_FLAGS, '--', spec])
    const [file] = readdirSync(packed)
    if (file === undefined) throw new StartError(`npm packed nothing for '${spec}'.`)
    const { size } = statSync(join(packed, file))
    if (size > TARBALL_MAX_BYTES) {
      throw new StartError(`'${spec}' has ${size} bytes, and packages for several hosts may have ${TARBALL_MAX_BYTES}. ` +
        'Run npm install in the folder plugins of the data directory of each host.')
    }
    return readFileSync(join(packed, file))
  } finally {
    rmSync(packed, { recursive: true, force: true })
  }
}

/** Runs work on the database of several hosts, while none of them installs plugins. */
async function withHosts<T> (url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  try {
    return await withPackages(url, (client) => installAlone(client, () => work(client)))
  } catch (err) {
    if (err instanceof StartError) throw err
    const { code, message, path } = err as { code?: string, message: string, path?: string }
    if (path !== undefined) {
      throw new StartError(`The folder of plugins cannot be used: ${message}. Check its permissions and the free space.`, { cause: err })
    }
    throw new StartError(code === UNDEFINED_TABLE
      ? 'The database has no list of the plugins of all hosts yet. Run svc migrate, then repeat this command.'
      : `The plugins of all hosts are listed in the database, which cannot be used: ${message}. Check SVC_DATABASE_URL.`, { cause: err })
  }
}

/** Installs a plugin here, and stores its tarball, from which all other hosts install it. */
async function addEverywhere (config: Config, url: string, given: string, spec: string): Promise<PluginRecord> {
  const secrets = createSecrets(config.auth.secret_key)
  return await withHosts(url, async (client) => {
    // Fails before anything is installed if the database has no such table.
    await readSharedPackages(client, secrets)
    const folder = createPluginsFolder(config.data_dir)
    const tarball = await packTarball(folder, spec)
    const sha256 = hash('sha256', tarball)
    try {
      const record = await restoreOnFailure(folder, async () => {
        await npmInstall(folder, writeTarball(folder, sha256, tarball))
        linkSdk(config.data_dir)
        const [name] = Object.entries(readDependencies(folder)).find(([, origin]) => origin === specOf(sha256)) ?? []
        return await requireUsable(config, given, name)
      })
      await storeSharedPackage(client, secrets, { name: record.package, version: record.version ?? '', sha256 }, tarball)
      return record
    } finally {
      deleteOldTarballs(folder)
    }
  })
}

/** Runs `svc plugins add`. @throws StartError for a plugin that cannot be used; its former version stays installed */
export async function addPlugin (features: Features, given: string): Promise<void> {
  const { config } = await features.loadConfig()
  const spec = readSpec(given)
  await requireFreeSpace(pluginsFolder(config.data_dir), 0)
  const url = directUrlOf(config)
  const record = url === undefined
    ? await addHere(config, given, spec)
    : await addEverywhere(config, url, given, spec)
  process.stdout.write(`${record.package} ${record.version ?? ''}: ${describePlugin(record)}\n`)
  printRestartHint(config)
}

async function removeHere (config: Config, name: string): Promise<void> {
  const folder = createPluginsFolder(config.data_dir)
  await runNpm(folder, ['uninstall', '--prefix', folder, ...NPM_FLAGS, '--', name])
  linkSdk(config.data_dir)
  deleteOldTarballs(folder)
}

function requireAdded (added: readonly string[], name: string): void {
  if (added.includes(name)) return
  throw new StartError(`No plugin '${name}' was added. ${added.length === 0 ? 'There are none.' : `The plugins are: ${added.join(', ')}.`}`)
}

/** Removes a plugin here, and stores that all other hosts remove it. */
async function removeEverywhere (config: Config, url: string, name: string): Promise<void> {
  const secrets = createSecrets(config.auth.secret_key)
  await withHosts(url, async (client) => {
    const { packages, refused } = await readSharedPackages(client, secrets)
    // Also those that another key of the server signed, because nothing else removes them.
    const shared = [...packages.filter(({ version }) => version !== null).map((pack) => pack.name), ...refused]
    const here = Object.keys(readDependencies(pluginsFolder(config.data_dir)))
    requireAdded([...new Set([...shared, ...here])], name)
    if (here.includes(name)) await removeHere(config, name)
    await storeSharedPackage(client, secrets, { name, version: null, sha256: '' }, null)
  })
}

/** Describes the files of an installed exporter, which its removal leaves in the library; empty for other plugins. */
async function describeLeftFiles ({ data_dir: dataDir }: Config, name: string): Promise<string> {
  const packages = listPluginPackages(dataDir).filter((pack) => pack.name === name && pack.origin === 'community')
  if (packages.length === 0) return ''
  // A broken plugin can be removed, too.
  const inspection = await inspectInProcess({ runsPlugins: false, packages }).catch(() => ({ descriptions: [] }))
  const { files, folders } = listExporterNames(inspection)
  const names = [...files, ...folders.map((folder) => `${folder}/`)]
  if (names.length === 0) return ''
  return `The platform folders keep its files: ${[...new Set(names)].join(', ')}. Delete them or exclude them from scans, ` +
    'because a scan without the plugin may list them as games.\n'
}

/** Runs `svc plugins remove`. */
export async function removePlugin (features: Features, name: string): Promise<number> {
  const { config } = await features.loadConfig()
  const leftFiles = await describeLeftFiles(config, name)
  const url = directUrlOf(config)
  if (url === undefined) {
    requireAdded(Object.keys(readDependencies(pluginsFolder(config.data_dir))), name)
    await removeHere(config, name)
  } else await removeEverywhere(config, url, name)
  process.stdout.write(`${name} was removed.\n${leftFiles}`)
  printRestartHint(config)
  return 0
}
