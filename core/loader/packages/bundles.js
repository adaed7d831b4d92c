// JavaScript without types, because strip-hook.js imports it before anything can remove them.
import { hash } from 'node:crypto'
import { readFileSync, realpathSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const HOME = new URL('../../../', import.meta.url).href
const PACKAGES = ['@mikro-orm/core', '@mikro-orm/migrations', '@mikro-orm/postgresql', '@mikro-orm/sql', '@sinclair/typebox', 'kysely']

/**
 * Everything that is imported from packages of hundreds of modules, each of which takes 6 kB of a process besides its
 * text. Bundles have them as few modules without comments.
 */
export const BUNDLED = [
  ...PACKAGES, ...['dataloader', 'file-discovery', 'fs-utils', 'migrations', 'schema'].map((name) => `@mikro-orm/core/${name}`),
  '@sinclair/typebox/compiler', '@sinclair/typebox/value'
]

/** Returns the name of the folder of bundles, which changes with the installed packages. */
export function nameBundles () {
  const manifests = PACKAGES.map((name) => readFileSync(findPackageJSON(name, import.meta.url), 'utf8'))
  return `packages-${hash('sha256', JSON.stringify([HOME, BUNDLED, manifests]))}`
}

/** Maps URLs of modules to those of the bundles that replace them. The map is empty if there are none to read. */
export function findBundles (folder) {
  try {
    const packages = realpathSync(join(folder, nameBundles()))
    const index = JSON.parse(readFileSync(join(packages, 'index.json'), 'utf8'))
    return new Map(index.map(([path, file]) => [new URL(path, HOME).href, pathToFileURL(join(packages, file)).href]))
  } catch {
    return new Map()
  }
}
