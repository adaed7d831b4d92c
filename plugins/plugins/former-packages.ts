import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** The beginning of the names of folders with copies of the installed packages. */
const COPY_PREFIX = '.former-'
/** The files and folders that npm changes. */
const PARTS = ['package.json', 'package-lock.json', 'node_modules']

const removeAll = (path: string) => { rmSync(path, { recursive: true, force: true }) }

/** Copies the installed packages, because the origin of one, such as a folder, may contain another version by now. */
function copyPackages (folder: string): string {
  // Deletes what interrupted commands left.
  for (const name of readdirSync(folder).filter((name) => name.startsWith(COPY_PREFIX))) removeAll(join(folder, name))
  const copy = mkdtempSync(join(folder, COPY_PREFIX))
  for (const part of PARTS.filter((part) => existsSync(join(folder, part)))) {
    cpSync(join(folder, part), join(copy, part), { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
  }
  return copy
}

function restorePackages (folder: string, copy: string): void {
  for (const part of PARTS) {
    removeAll(join(folder, part))
    if (existsSync(join(copy, part))) renameSync(join(copy, part), join(folder, part))
  }
}

/** Runs an installation. If it fails, the folder has its former packages again. */
export async function restoreOnFailure<T> (folder: string, install: () => Promise<T>): Promise<T> {
  const copy = copyPackages(folder)
  try {
    return await install()
  } catch (err) {
    restorePackages(folder, copy)
    throw err
  } finally {
    removeAll(copy)
  }
}
