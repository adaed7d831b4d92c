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

export const INDEX = 'index.json'

/** Returns the name of the folder of bundles, which changes with the installed packages and the code that bundles them. */
export function nameBundles () {
  const sources = [new URL('bundle-packages.ts', import.meta.url), ...PACKAGES.map((name) => findPackageJSON(name, import.meta.url))]
  return `packages-${hash('sha256', JSON.stringify([HOME, BUNDLED, sources.map((path) => readFileSync(path, 'utf8'))]))}`
}

/** Returns the digest of a file. */
export const digestFile = (path) => hash('sha256', readFileSync(path))

const isComplete = (folder, digests) => Object.entries(digests).every(([name, digest]) => digestFile(join(folder, name)) === digest)

/**
 * Maps URLs of modules to those of the bundles that replace them. The map is empty if bundles are missing, or damaged
 * as by a power cut.
 */
export function findBundles (folder) {
  try {
    const packages = realpathSync(join(folder, nameBundles()))
    const { modules, digests } = JSON.parse(readFileSync(join(packages, INDEX), 'utf8'))
    if (!isComplete(packages, digests)) return new Map()
    return new Map(modules.map(([path, file]) => [new URL(path, HOME).href, pathToFileURL(join(packages, file)).href]))
  } catch {
    return new Map()
  }
}
