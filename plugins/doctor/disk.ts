import { constants, existsSync } from 'node:fs'
import { access, mkdtemp, rmdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errorCode } from '../../core/files/fs-error.ts'
import { countFree } from '../../core/files/free-space.ts'
import { ASSETS } from '../assets/asset-files.ts'
import { RESOURCES } from '../resources/resource-key.ts'
import { type DoctorCheck, type Finding, fail, ok, reasonOf, warn } from './finding.ts'

const GIB = 1024 ** 3
/** With less free space the server accepts no uploads, artwork or exports. */
const FREE_MIN_BYTES = GIB
const FREE_WANTED_BYTES = 5 * GIB
/** Permissions of users who are neither the owner nor in the group. */
const OTHER_USERS = 0o007
const GROUP_AND_OTHERS = 0o077

const inGib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`

/** Returns the folder, or its nearest existing parent. */
const nearest = (folder: string): string =>
  existsSync(folder) || dirname(folder) === folder ? folder : nearest(dirname(folder))

export async function examineSpace (subject: string, folder: string): Promise<Finding> {
  const free = await countFree(folder)
  const message = `${inGib(free)} free for ${folder}`
  if (free < FREE_MIN_BYTES) return fail(subject, message, 'Free some space: with less than 1 GiB the server refuses uploads, artwork, exports and backups')
  return free < FREE_WANTED_BYTES ? warn(subject, message, 'Free some space soon, because the database and artwork grow') : ok(subject, message)
}

/**
 * Writes into a folder and undoes it, because only that reveals permissions, read-only disks, quotas and full disks.
 */
async function tryWriting (folder: string): Promise<unknown> {
  try {
    await rmdir(await mkdtemp(join(folder, '.svc-doctor-')))
    return null
  } catch (err) {
    return err
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  EROFS: 'Mount the disk writable',
  ENOSPC: 'Free some space on the disk',
  EDQUOT: 'Raise the quota of this user'
}

/** Returns the reason why this user cannot write into the folder; null if it can. */
export async function findWriteProblem (folder: string): Promise<{ reason: string, remedy: string } | null> {
  const err = await tryWriting(nearest(folder))
  if (err === null) return null
  const userName = process.getuid === undefined ? 'this user' : `the user with the number ${process.getuid()}`
  return { reason: reasonOf(err), remedy: REMEDIES[errorCode(err) ?? ''] ?? `Give ${userName} the right to write there` }
}

async function examineDataDir (dataDir: string): Promise<Finding[]> {
  const subject = 'data directory'
  const problem = await findWriteProblem(dataDir)
  if (problem !== null) {
    return [fail(subject, `${dataDir} cannot be written: ${problem.reason}`, `${problem.remedy}, or set SVC_DATA_DIR to another folder`)]
  }
  if (!existsSync(dataDir)) return [ok(subject, `${dataDir} does not exist yet; the first start creates it`)]
  return [ok(subject, `${dataDir} can be written`)]
}

/** Checks a folder of the data directory that may be a disk of its own, or belong to another user. */
async function examineFolder (dataDir: string, name: string): Promise<Finding[]> {
  const folder = join(dataDir, name)
  if (!existsSync(folder)) return []
  const problem = await findWriteProblem(folder)
  if (problem !== null) return [fail(name, `${folder} cannot be written: ${problem.reason}`, problem.remedy)]
  const isOtherDisk = (await stat(folder)).dev !== (await stat(dataDir)).dev
  return isOtherDisk ? [await examineSpace(name, folder)] : []
}

/** Checks files that hold secrets: nobody else may read them. */
async function examineSecret (dataDir: string, name: string, rights: number): Promise<Finding[]> {
  const file = join(dataDir, name)
  if (!existsSync(file)) return []
  try {
    await access(file, constants.R_OK)
  } catch (err) {
    return [fail(name, `${file} cannot be read: ${reasonOf(err)}`, 'Give this user the right to read it')]
  }
  const { mode } = await stat(file)
  if (process.platform === 'win32' || (mode & rights) === 0) return [ok(name, `other users cannot read ${file}`)]
  const command = `chmod ${rights === OTHER_USERS ? 'o-rwx' : '600'} ${file}`
  return [warn(name, `${file} may contain secrets, and other users can read it`, `Remove that right: ${command}`)]
}

/** Checks the data directory: permissions, space, and readable secrets. */
export const examineDisk: DoctorCheck = async ({ config: { data_dir: dataDir } }) => [
  ...await examineDataDir(dataDir),
  await examineSpace('disk space', dataDir),
  ...await examineFolder(dataDir, ASSETS),
  ...await examineFolder(dataDir, RESOURCES),
  ...await examineSecret(dataDir, 'secret.key', GROUP_AND_OTHERS),
  ...await examineSecret(dataDir, 'config.yml', OTHER_USERS)
]
