import { execFile } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { chmod, chown, lchown, lstat, mkdir, mkdtemp, readFile, readdir, readlink, realpath, rename, rm, rmdir, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { StartError } from '../errors.ts'
import { countFree } from '../files/free-space.ts'
import { syncFolder } from '../files/sync-folder.ts'
import { writePrivate } from '../files/write-like.ts'
import { undefinedIf } from './binaries.ts'
import type { Account, Binaries } from './binaries.ts'

/** The superuser that creates the cluster. The server itself uses another role (server-role.ts). */
export const SUPERUSER = 'svc'

const MIB = 1024 ** 2
/** A new cluster takes about 40 MiB, and its first start adds 16 MiB of write-ahead log. */
const NEW_CLUSTER_BYTES = 128 * MIB
const PASSWORD_FILE = 'svc.password'
const LOCK_FILE = 'postmaster.pid'
const UNFINISHED = '.unfinished-'
const ACCOUNTS = ['postgres', 'nobody']
/** The time limits of a fast shutdown (SIGINT), and then of an immediate one (SIGQUIT). */
export const FAST_SHUTDOWN_MS = 8000
export const IMMEDIATE_SHUTDOWN_MS = 3000

const POLL_MS = 25
/** The last three give a name to a user without one, because initdb needs it (core/cli/container.sh). */
const INHERITED_VARIABLES = ['PATH', 'SystemRoot', 'TEMP', 'TMP', 'LD_LIBRARY_PATH',
  'LD_PRELOAD', 'NSS_WRAPPER_PASSWD', 'NSS_WRAPPER_GROUP']

const execFileAsync = promisify(execFile)

/**
 * A cluster that is ready to run. `name` is unique on this machine while the folder exists; `password` belongs to the
 * superuser.
 */
export interface Cluster { dataDir: string, name: string, password: string }

/**
 * Returns the account for a server in `dataDir`; undefined means the current user. Root switches to the owner of an
 * existing cluster, else to `postgres` or `nobody`.
 *
 * @throws StartError if the cluster belongs to another user.
 */
export async function chooseAccount (dataDir: string): Promise<Account | undefined> {
  const owner = await stat(dataDir).catch(undefinedIf('ENOENT'))
  const uid = process.geteuid?.()
  if (uid === undefined) return undefined
  if (uid !== 0) {
    if (owner === undefined || owner.uid === uid) return undefined
    throw new StartError(`The database folder ${dataDir} belongs to user ${owner.uid}, but svc runs as user ${uid}. ` +
      `Start svc as its owner, or run "chown -R ${uid} ${dataDir}" as root.`)
  }
  if (owner !== undefined && owner.uid !== 0 && await readVersion(dataDir) !== undefined) {
    return { uid: owner.uid, gid: owner.gid }
  }
  return findUnprivilegedAccount()
}

async function findUnprivilegedAccount (): Promise<Account> {
  const entries = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'))
  for (const name of ACCOUNTS) {
    const [, , uid, gid] = entries.find(([user]) => user === name) ?? []
    if (Number(uid) > 0 && Number(gid) > 0) return { uid: Number(uid), gid: Number(gid) }
  }
  throw new StartError('PostgreSQL does not run as root, and /etc/passwd has neither "postgres" nor "nobody". ' +
    'Start svc as a normal user, or set SVC_DATABASE_URL to a PostgreSQL server of your own.')
}

/** Creates the cluster at the first start, else checks that these binaries can run it. */
export async function prepareCluster (dataDir: string, binaries: Binaries, account?: Account): Promise<Cluster> {
  await removeUnfinished(dataDir)
  const version = await readVersion(dataDir)
  if (version === undefined) await createCluster(dataDir, binaries, account)
  else if (version !== binaries.major) throw wrongMajor(dataDir, version, binaries.major)
  if (account !== undefined) await changeOwner(dataDir, account)
  // PostgreSQL refuses a folder that others can read, and copies and network shares often widen its permissions.
  await chmod(dataDir, 0o700)
  return { dataDir, name: await nameCluster(dataDir), password: await readPassword(dataDir) }
}

/** Returns the process options for the server and initdb: none of svc's own settings, no PG* variables, no locale. */
export function serverProcessOptions (dataDir: string, account?: Account) {
  const env: NodeJS.ProcessEnv = { LC_ALL: 'C', TZ: 'UTC' }
  for (const name of INHERITED_VARIABLES) env[name] = process.env[name]
  return { cwd: dataDir, env, ...account }
}

/**
 * Returns the folder as its server names it. On Linux this is the link to the working directory, which is set before
 * root drops its rights. Unlike a path, the link needs no access to the parent folders.
 */
export function descriptorPath (dataDir: string): string {
  return process.platform === 'linux' ? '/proc/self/cwd' : dataDir
}

/** Returns the lines of postmaster.pid: 0 process id, 3 port, 7 status. Empty if the file does not exist. */
export async function readLockFile (dataDir: string): Promise<string[]> {
  const text = await readFile(join(dataDir, LOCK_FILE), 'utf8').catch(undefinedIf('ENOENT'))
  return text?.split('\n').map((line) => line.trim()) ?? []
}

/** Returns the major version that wrote a cluster; undefined if there is no cluster. */
export async function readVersion (dataDir: string): Promise<string | undefined> {
  const text = await readFile(join(dataDir, 'PG_VERSION'), 'utf8').catch(undefinedIf('ENOENT'))
  return text?.trim()
}

function wrongMajor (dataDir: string, found: string, expected: string): StartError {
  return new StartError(`The database folder ${dataDir} was written by PostgreSQL ${found}, but this svc comes with ` +
    `PostgreSQL ${expected}. Make a backup with the svc that wrote it ("svc backup") and restore it with this ` +
    `one ("svc restore"), which keeps the folder; or serve it with PostgreSQL ${found} and set SVC_DATABASE_URL.`)
}

/** @throws StartError if the disk has no space for a new cluster */
async function requireSpace (dataDir: string): Promise<void> {
  const free = await countFree(dataDir)
  if (free >= NEW_CLUSTER_BYTES) return
  throw new StartError(`The disk of ${dataDir} has ${Math.floor(free / MIB)} MiB free, and a new database needs ` +
    `${NEW_CLUSTER_BYTES / MIB} MiB. Free some space, or set SVC_DATA_DIR to a folder on another disk.`)
}

async function createCluster (dataDir: string, binaries: Binaries, account?: Account): Promise<void> {
  const entries = await readdir(dataDir).catch(undefinedIf('ENOENT'))
  if (entries !== undefined && entries.length > 0) {
    throw new StartError(`The database folder ${dataDir} is not empty and holds no PostgreSQL cluster (no PG_VERSION; ` +
      `found "${entries[0]}"). Empty it or choose another folder.`)
  }
  await mkdir(dirname(dataDir), { recursive: true })
  await requireSpace(dataDir)
  const staging = await mkdtemp(`${dataDir}${UNFINISHED}`)
  try {
    const newFolder = join(staging, 'cluster')
    const password = join(staging, 'password')
    await mkdir(newFolder, { mode: 0o700 })
    await writePrivate(password, randomBytes(24).toString('base64url'))
    if (account !== undefined) {
      for (const path of [password, newFolder, staging]) await chown(path, account.uid, account.gid)
    }
    await runInitdb(newFolder, binaries, account)
    await rename(password, join(newFolder, PASSWORD_FILE))
    await syncFolder(newFolder)
    await moveIntoPlace(newFolder, dataDir)
  } finally {
    await rm(staging, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function runInitdb (folder: string, binaries: Binaries, account?: Account): Promise<void> {
  const args = [
    '-D', descriptorPath(folder), '-U', SUPERUSER,
    // join() is not used: it would shorten "cwd/..", which is another folder if cwd is a link.
    `--pwfile=${descriptorPath(folder)}/../password`,
    '--auth=scram-sha-256', '--encoding=UTF8', '--locale=C', '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8', '--set=huge_pages=off', '--no-instructions'
  ]
  try {
    await execFileAsync(binaries.initdb, args, { ...serverProcessOptions(folder, account), windowsHide: true })
  } catch (err) {
    if (String(err).includes('could not look up effective user ID')) throw namelessUser(err)
    throw new StartError(`The database could not be created: ${String(err)}\nIf this system cannot run that program ` +
      '(on Linux it needs glibc), set SVC_DATABASE_URL to a PostgreSQL server of your own.', { cause: err })
  }
}

/** PostgreSQL needs the name of the user that runs it. */
const namelessUser = (cause: unknown): StartError => new StartError(
  `The database could not be created, because the user with the number ${process.geteuid?.()} has no name on this ` +
  'system. Start svc as a user of /etc/passwd, or set SVC_DATABASE_URL to a PostgreSQL server of your own.', { cause })

async function moveIntoPlace (newFolder: string, dataDir: string): Promise<void> {
  try {
    await rmdir(dataDir).catch(undefinedIf('ENOENT'))
    await rename(newFolder, dataDir)
  } catch (err) {
    throw new StartError(`The new database cannot be moved to ${dataDir}: ${String(err)}. If that folder is a mount ` +
      'point, mount the folder above it instead.', { cause: err })
  }
  await syncFolder(dirname(dataDir))
}

/** Removes the remains of an interrupted first start, which never contain data. */
async function removeUnfinished (dataDir: string): Promise<void> {
  const siblings = await readdir(dirname(dataDir)).catch(undefinedIf('ENOENT')) ?? []
  for (const name of siblings.filter((name) => name.startsWith(`${basename(dataDir)}${UNFINISHED}`))) {
    await rm(join(dirname(dataDir), name), { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Changes the owner of a cluster, because a backup restored by root belongs to root, which PostgreSQL refuses. */
async function changeOwner (dataDir: string, { uid, gid }: Account): Promise<void> {
  if ((await stat(dataDir)).uid === uid) return
  for (const entry of await readdir(dataDir, { recursive: true })) await lchown(join(dataDir, entry), uid, gid)
  await chown(dataDir, uid, gid)
}

/**
 * Returns a name from device and inode. The name follows a moved folder, and differs in a copy and at the same path of
 * another container.
 */
async function nameCluster (dataDir: string): Promise<string> {
  const { dev, ino } = await stat(dataDir, { bigint: true })
  return `svc-${createHash('sha256').update(`${dev}:${ino}`).digest('hex').slice(0, 16)}`
}

async function readPassword (dataDir: string): Promise<string> {
  const path = join(dataDir, PASSWORD_FILE)
  const password = (await readFile(path, 'utf8').catch(undefinedIf('ENOENT')))?.trim() ?? ''
  if (!/^[\w-]{16,}$/.test(password)) {
    throw new StartError(`The password of the database is missing in ${path}. Restore that file from a backup, or write ` +
      `a new password (16 or more of A-Z a-z 0-9 _ -) into it and set it with ALTER ROLE ${SUPERUSER} in a ` +
      'single-user server ("postgres --single").')
  }
  return password
}

/**
 * Stops the server and the backends that an earlier, killed svc left on this cluster. Then makes sure that a lock file
 * with the id of an unrelated process does not prevent the next start.
 */
export async function clearLeftovers (cluster: Cluster, binaries: Binaries, log: (line: string) => void) {
  if (process.platform === 'win32') return stopOnWindows(cluster, binaries)
  const orphans = await findOrphans(cluster)
  if (orphans.length > 0) {
    log(`stopping the PostgreSQL server that an earlier run left behind (${orphans.map(({ pid }) => pid).join(', ')})`)
    await endOrphans(cluster, orphans)
  }
  await releaseLockFile(cluster)
}

/** Stops the server by pg_ctl, because Windows has no signals; pg_ctl fails if no server is running. */
async function stopOnWindows ({ dataDir }: Cluster, { pgCtl }: Binaries): Promise<void> {
  if ((await readLockFile(dataDir)).length === 0) return
  const args = ['stop', '-D', dataDir, '-m', 'fast', '-w', '-t', '20']
  await new Promise((resolve) => execFile(pgCtl, args, { windowsHide: true }, resolve))
}

interface Running { pid: number, command: string }

async function findOrphans ({ name }: Cluster): Promise<Running[]> {
  return (await listRunning()).filter(({ command }) =>
    command.startsWith(`postgres: ${name}: `) || (isServer(command) && command.includes(` cluster_name=${name} `)))
}

/**
 * True for the command line of a server. Its backends have titles instead, as in "postgres: svc-0123456789abcdef:
 * checkpointer".
 */
function isServer (command: string): boolean {
  return /postgres -D .* -c cluster_name=/.test(command)
}

/** True if a process is a server that svc started. */
export async function isServerProcess (pid: number): Promise<boolean> {
  return (await listRunning()).some((running) => running.pid === pid && isServer(running.command))
}

async function endOrphans (cluster: Cluster, orphans: Running[]): Promise<void> {
  const servers = orphans.filter(({ command }) => isServer(command))
  signalAll(servers, 'SIGINT')
  // Backends without a server hold the shared memory until their statement ends, so there is no shutdown to wait for.
  if (servers.length > 0 && await waitForExit(cluster, FAST_SHUTDOWN_MS)) return
  signalAll(await findOrphans(cluster), 'SIGQUIT')
  if (await waitForExit(cluster, IMMEDIATE_SHUTDOWN_MS)) return
  signalAll(await findOrphans(cluster), 'SIGKILL')
  if (await waitForExit(cluster, IMMEDIATE_SHUTDOWN_MS)) return
  const pids = (await findOrphans(cluster)).map(({ pid }) => pid)
  throw new StartError(`An earlier PostgreSQL server of ${cluster.dataDir} (process ${pids.join(', ')}) cannot be ended. ` +
    'Its disk may hang: check it, then end the process or restart the machine.')
}

/** Sends a signal to a process; one that has ended meanwhile is no error. */
export function sendSignal (pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (err) {
    undefinedIf('ESRCH')(err)
  }
}

function signalAll (targets: Running[], signal: NodeJS.Signals): void {
  for (const { pid } of targets) sendSignal(pid, signal)
}

async function waitForExit (cluster: Cluster, withinMs: number): Promise<boolean> {
  for (const deadline = Date.now() + withinMs; Date.now() < deadline; await sleep(POLL_MS)) {
    if ((await findOrphans(cluster)).length === 0) return true
  }
  return false
}

/**
 * Releases a lock file. PostgreSQL refuses to start while the process in the lock file lives, even if its id was
 * reused. With the id of its parent (this process) the file is stale, but keeps the shared memory key, PostgreSQL's
 * second guard.
 */
async function releaseLockFile ({ dataDir }: Cluster): Promise<void> {
  const [pid, ...rest] = await readLockFile(dataDir)
  const running = (await listRunning()).find((candidate) => candidate.pid === Number(pid))
  if (running === undefined) return
  if (/\bpostgres\b/.test(running.command) && await runsIn(running.pid, dataDir)) {
    throw new StartError(`A PostgreSQL server that svc did not start (process ${pid}) uses ${dataDir}. Stop it first.`)
  }
  const path = join(dataDir, LOCK_FILE)
  const { uid, gid } = await lstat(path)
  const replacement = `${path}.svc`
  // The file is removed, created again and renamed, because root must never write through a link that the account put
  // there.
  await rm(replacement, { force: true })
  await writeFile(replacement, [process.pid, ...rest].join('\n'), { flag: 'wx', mode: 0o600 })
  await lchown(replacement, uid, gid)
  await rename(replacement, path)
}

/** True if a process works in the folder, or if the system does not tell. */
async function runsIn (pid: number, dataDir: string): Promise<boolean> {
  if (process.platform !== 'linux') return true
  const folder = await readlink(`/proc/${pid}/cwd`).catch(undefinedIf('ENOENT', 'ESRCH', 'EACCES', 'EPERM'))
  return folder === undefined || folder === await realpath(dataDir)
}

async function listRunning (): Promise<Running[]> {
  if (process.platform !== 'linux') return listWithPs()
  const running: Running[] = []
  for (const entry of await readdir('/proc')) {
    if (!/^\d+$/.test(entry)) continue
    const command = await readFile(`/proc/${entry}/cmdline`, 'utf8')
      .catch(undefinedIf('ENOENT', 'ESRCH', 'EACCES', 'EPERM'))
    if (command !== undefined) running.push({ pid: Number(entry), command: command.replaceAll('\0', ' ') })
  }
  return running
}

async function listWithPs (): Promise<Running[]> {
  const { stdout } = await execFileAsync('ps', ['-axww', '-o', 'pid=,command='], { maxBuffer: 16 * 1024 * 1024 })
  return stdout.split('\n').flatMap((line) => {
    const [, pid, command] = /^\s*(\d+)\s(.*)$/.exec(line) ?? []
    return pid === undefined || command === undefined ? [] : [{ pid: Number(pid), command }]
  })
}
