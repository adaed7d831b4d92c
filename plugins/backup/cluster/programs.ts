import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { type BinarySource, packageName } from '../../../core/postgres/binaries.ts'
import { NPM_FLAGS, runNpm } from '../../../core/loader/packages/run-npm.ts'

/** Packages of former major versions: the last package of each, added when package.json gets the next one. */
export const FORMER_VERSIONS: ReadonlyMap<string, string> = new Map([['17', '17.10.0-beta.17']])

/** The largest package has about 120 MB. */
const PACKAGE_MAX_BYTES = 256 * 1024 ** 2

/** Returns the folder of a former major version's programs, after they were downloaded or copied there. */
export const programsFolder = (dataDir: string, major: string): string => join(dataDir, 'postgresql', major)

export const packageOf = (major: string): string => `${packageName()}@${FORMER_VERSIONS.get(major) ?? major}`

export const hasPrograms = (dataDir: string, major: string): boolean =>
  existsSync(join(programsFolder(dataDir, major), 'node_modules', packageName(), 'package.json'))

/** Resolves the programs in the data directory for the code that starts a database server. */
export const programsIn = (dataDir: string, major: string): BinarySource => ({
  resolvePackage: (name) => join(programsFolder(dataDir, major), 'node_modules', name, 'dist', 'index.js')
})

/** Downloads programs into the data directory with npm: all of them, or none. @throws StartError, ApiError */
export async function fetchPrograms (dataDir: string, major: string, signal: AbortSignal): Promise<void> {
  const folder = programsFolder(dataDir, major)
  // Staging makes the folder complete or absent, because npm writes file by file.
  const part = `${folder}.part`
  await requireFreeSpace(dataDir, PACKAGE_MAX_BYTES)
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { recursive: true })
  await writeFile(join(part, 'package.json'), '{ "private": true }\n')
  await runNpm(part, ['install', '--prefix', part, ...NPM_FLAGS, '--fetch-retries=1', '--', packageOf(major)], { signal })
  await rm(folder, { recursive: true, force: true })
  await rename(part, folder)
}
