import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import { type NamedFolder, findFolderRefusals } from '../config/library-folders.ts'
import { hasIdentity } from '../database/identity.ts'
import { StartError } from '../errors.ts'
import { isInside } from '../files/safe-path.ts'
import { HOST_ID, createHostId } from '../process/host.ts'
import { ownerSocket } from '../sockets/owner-socket.ts'
import { ownerKey } from '../sockets/session-owner.ts'
import { checkNamedPaths } from './named-paths.ts'
import { createRunDir, runDir } from '../config/run-dir.ts'

/** The longest path of a local socket, without its NUL: 104 bytes on macOS, 108 on Linux (`man 7 unix`). */
const SOCKET_PATH_MAX_BYTES = 103

/** The name of a worker's local socket. Former releases had no host in it. */
const OLD_SOCKET = new RegExp(`^web-(?:${HOST_ID}-)?\\d+-[0-9a-z]+\\.sock$`)

/** @throws StartError naming the variable if the path is a file or does not exist. */
function requireFolder (variable: string, path: string, remedy: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return
  throw new StartError(`${variable}: ${path} is ${existsSync(path) ? 'a file' : 'missing'}. ${remedy}`)
}

/** Returns the configured libraries with the settings that name them. */
function listLibraries ({ file, libraries, library_dir: dir }: Config): (NamedFolder & { setting: string })[] {
  const listed = Object.entries(libraries)
    .map(([name, { path }]) => ({ name, dir: path, setting: `libraries.${name}.path in ${file.path}` }))
  return listed.length > 0 ? listed : [{ name: 'library', dir, setting: 'SVC_LIBRARY_DIR' }]
}

/** @throws StartError naming the setting of each folder that must not be a library. */
async function checkLibraries (config: Config): Promise<void> {
  const libraries = listLibraries(config)
  const refusals = await findFolderRefusals(libraries, config.data_dir)
  const problems = libraries.flatMap(({ name, setting }) =>
    refusals.has(name) ? [`${setting}: ${refusals.get(name)}.`] : [])
  if (problems.length > 0) throw new StartError(problems.join('\n'))
}

/**
 * Checks the files and folders that settings name, and creates nothing.
 *
 * @throws StartError naming each setting that cannot be used on this machine.
 */
export async function checkFolders (config: Config): Promise<void> {
  checkNamedPaths(config)
  await checkLibraries(config)
  if (config.server.web_dir !== undefined) {
    requireFolder('SVC_WEB_DIR', resolve(config.server.web_dir), 'Set it to the folder with index.html, or remove it.')
  }
}

/**
 * Creates the folders of a first start. An existing library folder is used as it is. Later starts create only a library
 * in the data directory, because any other may be on a disk that is not mounted. Folders listed under `libraries` are
 * never created.
 *
 * @throws StartError naming the folder that cannot be created or used.
 */
export async function createLayout (config: Config): Promise<void> {
  createRunDir(config.data_dir)
  await checkFolders(config)
  if (Object.keys(config.libraries).length > 0) return
  const roms = join(config.library_dir, config.filesystem.roms_folder)
  try {
    if (!existsSync(config.library_dir)) {
      const isNew = !hasIdentity(config.data_dir) || isInside(config.data_dir, config.library_dir)
      if (isNew) mkdirSync(roms, { recursive: true })
    } else requireFolder('SVC_LIBRARY_DIR', config.library_dir, 'Set it to the folder that holds the platforms.')
  } catch (err) {
    if (err instanceof StartError) throw err
    throw new StartError(`The library folder cannot be made: ${(err as Error).message}. Give this user the right to ` +
      'write there, or set SVC_LIBRARY_DIR to another folder.', { cause: err })
  }
}

/** True if local sockets work there. Network shares and foreign file systems often do not support them. */
function canListen (path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => { resolve(false) })
    server.listen(path, () => { server.close(() => { resolve(true) }) })
  })
}

export interface SocketFolder { path: string, remove (): void }

/**
 * Opens a folder with the local sockets of web workers, closed to other users; in the system's temporary folder if
 * necessary.
 */
export async function openSocketFolder (config: Config): Promise<SocketFolder> {
  const folder = createRunDir(config.data_dir)
  const hostId = createHostId()
  const longest = ownerSocket(folder, ownerKey(hostId, 9_999, 4_194_304))
  const fits = process.platform === 'win32' || Buffer.byteLength(longest) <= SOCKET_PATH_MAX_BYTES
  if (fits && await canListen(ownerSocket(folder, ownerKey(hostId, 0)))) return { path: folder, remove: () => {} }
  const path = mkdtempSync(join(tmpdir(), 'svc-'))
  return { path, remove: () => { rmSync(path, { recursive: true, force: true }) } }
}

/** Deletes the local sockets of killed workers. Only the holder of the lock may call it. */
export function clearOldSockets (config: Config): void {
  const folder = runDir(config.data_dir)
  for (const name of readdirSync(folder)) {
    if (OLD_SOCKET.test(name)) rmSync(join(folder, name), { force: true })
  }
}
