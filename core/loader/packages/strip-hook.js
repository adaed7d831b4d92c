// Loaded first (--import), also in threads. The server's modules come without their types, as strip-types.ts stored
// them in the folder that this module's URL names. Node itself strips a file that is missing there or was changed.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { toAscii } from './ascii-code.js'
import { findBundles } from './bundles.js'

const HOME = new URL('../../../', import.meta.url).href
const PACKAGES = `${HOME}node_modules/`
const DIGEST_BYTES = 64
/** Before 24.9 a CommonJS module that is imported while there are hooks gets the wrong modules from `require`. */
const [major, minor] = process.versions.node.split('.').map(Number)
const canHook = major > 24 || (major === 24 && minor >= 9)
const folder = new URL(import.meta.url).searchParams.get('folder')

/** At the first package that may have a bundle, because most threads load none. */
let bundles = null
const findBundle = (url) => {
  if (!url.startsWith(PACKAGES)) return undefined
  bundles ??= findBundles(folder)
  return bundles.get(url)
}
const CODE = ['module', 'commonjs', undefined]

const isOurs = (url) => url.startsWith(HOME) && url.endsWith('.ts')

function findStripped (url) {
  try {
    const kept = readFileSync(join(folder, hash('sha256', readFileSync(fileURLToPath(url)))))
    const text = kept.subarray(DIGEST_BYTES)
    return kept.latin1Slice(0, DIGEST_BYTES) === hash('sha256', text) ? text.toString() : null
  } catch {
    return null
  }
}

const hooks = {
  // Resolved here, because Node would read the disk for each module and for its package.
  resolve (specifier, context, next) {
    if (specifier.startsWith('.') && specifier.endsWith('.ts') && isOurs(context.parentURL ?? '')) {
      return { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
    }
    const resolved = next(specifier, context)
    return { ...resolved, url: findBundle(resolved.url) ?? resolved.url }
  },
  load (url, context, next) {
    const source = isOurs(url) ? findStripped(url) : null
    if (source !== null) return { format: 'module', source, shortCircuit: true }
    const loaded = next(url, context)
    // Each process keeps the text of its code in memory. A module that CommonJS code requires has no format.
    return loaded.source != null && CODE.includes(loaded.format) ? { ...loaded, source: toAscii(loaded.source.toString()) } : loaded
  }
}

if (canHook) registerHooks(hooks)
