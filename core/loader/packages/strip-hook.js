// Loaded first (--import), also in threads. The server's modules come without their types, as strip-types.ts stored
// them in the folder that this module's URL names. Node itself strips a file that is missing there or was changed.
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const HOME = new URL('../../../', import.meta.url).href
const DIGEST_BYTES = 64
/** Before 24.9 a CommonJS module that is imported while there are hooks gets the wrong modules from `require`. */
const [major, minor] = process.versions.node.split('.').map(Number)
const canHook = major > 24 || (major === 24 && minor >= 9)
const folder = new URL(import.meta.url).searchParams.get('folder')

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

/**
 * Writes characters beyond Latin-1 as escapes, because V8 stores a text with one of them in twice the bytes. A text in
 * which an escape may mean something else stays as it is.
 */
function narrow (text) {
  if (!/[^\0-\xff]/.test(text) || /(?![\0-\xff])\s|\\[^\0-\xff]|String\.raw/.test(text)) return text
  const escaped = text.replace(/[^\0-\xff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
  // A text that is made of a wide one stays wide.
  return Buffer.from(escaped, 'latin1').latin1Slice()
}

/** Returns a module of a package as Node loads it, with a shorter text. */
function narrowModule (loaded) {
  const { format, source } = loaded
  if (format !== 'module' || source === null || source === undefined) return loaded
  return { ...loaded, source: narrow(typeof source === 'string' ? source : Buffer.from(source).toString()) }
}

const hooks = {
  // Resolved here, because Node would read the disk for each module and for its package.
  resolve (specifier, context, next) {
    return specifier.startsWith('.') && specifier.endsWith('.ts') && isOurs(context.parentURL ?? '')
      ? { url: new URL(specifier, context.parentURL).href, format: 'module-typescript', shortCircuit: true }
      : next(specifier, context)
  },
  load (url, context, next) {
    const source = isOurs(url) ? findStripped(url) : null
    return source === null ? narrowModule(next(url, context)) : { format: 'module', source: narrow(source), shortCircuit: true }
  }
}

if (canHook) registerHooks(hooks)
