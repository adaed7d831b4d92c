import { isAbsolute, relative } from 'node:path'
import { EXIT_CODES, StartError } from '../../../core/errors.ts'
import { isInside } from '../../../core/files/safe-path.ts'
import type { App } from '../../../core/typebox.ts'
import { type NamedRom, selectExplanations, selectNamedRoms } from '../../matching/explanation-rows.ts'
import { type RomLookup, toLookupView } from '../../matching/views.ts'
import { describeLookup, isMatch } from './describe-lookup.ts'

interface ExplainOptions { json: boolean, write: (text: string) => void }

const INTEGER = /^\d{1,9}$/

/** Returns a path relative to its library. */
async function toLibraryPath (app: App, path: string): Promise<string> {
  const plain = path.replace(/\/+$/, '')
  if (!isAbsolute(plain)) return plain.replace(/^(?:\.\/)+/, '')
  const root = (await app.library.list()).find(({ dir }) => isInside(dir, plain))
  return root === undefined ? plain : relative(root.dir, plain)
}

/** Finds ROMs by id or path; several libraries may have one path. @throws StartError if there is none */
async function findRoms (app: App, reference: string): Promise<NamedRom[]> {
  const byId = INTEGER.test(reference) ? await selectNamedRoms(app.db, { id: Number(reference) }) : []
  if (byId.length > 0) return byId
  const byPath = await selectNamedRoms(app.db, { path: await toLibraryPath(app, reference) })
  if (byPath.length > 0) return byPath
  throw new StartError(`There is no ROM '${reference}'. Give its id, or its path below the library, such as roms/snes/Game.sfc.`,
    { exitCode: EXIT_CODES.usage })
}

function describeRom ({ id, name, path, platform }: NamedRom, lookups: readonly RomLookup[]): string {
  const head = `${path} (ROM ${id}, ${platform})${name === null ? '' : ` has the name "${name}"`}\n`
  if (lookups.length === 0) return `${head}  No provider has looked it up yet; run svc scan --rom ${id}.\n`
  const [matches, misses] = [lookups.filter(isMatch), lookups.filter((lookup) => !isMatch(lookup))]
  return [head, ...[...matches, ...misses].map(describeLookup)].join('')
}

/** Prints how each provider was asked about a ROM, and why it has its match or none. @returns the exit code */
export async function explainRom (app: App, reference: string, { json, write }: ExplainOptions): Promise<number> {
  for (const rom of await findRoms(app, reference)) {
    const lookups = (await selectExplanations(app.db, rom.id)).map(toLookupView)
    write(json ? `${JSON.stringify({ ...rom, lookups })}\n` : describeRom(rom, lookups))
  }
  return 0
}
