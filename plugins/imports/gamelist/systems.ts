import type { Readable } from 'node:stream'
import { XmlError } from '@svc/plugin-sdk/xml'
import { isNothingThere, openInside } from '../../../core/files/safe-path.ts'
import type { ImporterContext } from '../contract.ts'
import { type Entry, readEntries, type Refused } from './entries.ts'
import { type Folders, listNames } from './folders.ts'

/** A ROM of a system: what the server here has as one file or folder, with the entry that describes it. */
export interface Game {
  /** The id of the record. */
  readonly id: string
  readonly system: string
  /** The name of the file or folder directly below the system's folder. */
  readonly fsName: string
  readonly entry: Entry
}

/** Lists the systems that have a folder of ROMs or a gamelist, by name. */
export async function listSystems (folders: Folders): Promise<string[]> {
  const names = [...await listNames(folders.folder, '', 'folder'), ...await listNames(folders.gamelists, '', 'folder')]
  const systems: string[] = []
  for (const system of [...new Set(names)].sort()) {
    const file = await openGamelist(folders, system)
    file?.content.destroy()
    if (file !== null) systems.push(system)
  }
  return systems
}

/**
 * Reads the games of a system by name. Of several entries of one file the last one counts, as in the frontends. A
 * damaged gamelist has no games, which is reported.
 */
export async function readGames (folders: Folders, system: string, context: ImporterContext): Promise<Game[]> {
  const file = await openGamelist(folders, system)
  if (file === null) return []
  const entries = new Map<string, Entry>()
  try {
    for await (const entry of readEntries(file.content, file.name)) {
      context.signal.throwIfAborted()
      if ('text' in entry) entries.set(entry.path, entry)
      else reportRefused(entry, system, context)
    }
  } catch (err) {
    if (!(err instanceof XmlError)) throw err
    context.warn(`The games of ${system} were left out: ${err.message}`)
    return []
  } finally {
    file.content.destroy()
  }
  return toGames(system, [...entries.values()], context)
}

/** Opens ES-DE's own gamelist of a system, or else the one in the folder of ROMs; null if there is none. */
async function openGamelist (
  { folder, gamelists }: Folders, system: string
): Promise<{ name: string, content: Readable } | null> {
  const places = [
    [gamelists, `${system}/gamelist.xml`], [folder, `${system}/gamelist.xml`], [folder, `${system}/roms/gamelist.xml`]
  ] as const
  for (const [base, name] of places) {
    if (base === null) continue
    try {
      return { name, content: (await openInside(base, name)).createReadStream() }
    } catch (err) {
      if (!isNothingThere(err)) throw err
    }
  }
  return null
}

function reportRefused ({ path, name }: Refused, system: string, { skip }: ImporterContext) {
  const reason = path === '' ? 'its entry has no path' : 'its path names no file in the system\'s folder'
  skip({ kind: 'rom', id: null, name: `${system}: ${(path || name).slice(0, 500)}`, reason })
}

/**
 * Turns entries into games. The server here has a folder as one ROM: its entry is the only one in it, or the only
 * playlist.
 */
function toGames (system: string, entries: readonly Entry[], { skip }: ImporterContext): Game[] {
  const games: Game[] = []
  for (const [fsName, group] of Map.groupBy(entries, ({ path }) => path.split('/', 1).join(''))) {
    const own = group.find(({ path }) => path === fsName)
    const playlists = group.filter(({ path }) => /\.m3u$/i.test(path))
    const candidates = own !== undefined ? [own] : playlists.length > 0 ? playlists : group
    const [entry, ...others] = candidates
    if (entry !== undefined && others.length === 0) games.push({ id: `${system}/${fsName}`, system, fsName, entry })
    else {
      skip({
        kind: 'rom',
        id: null,
        name: `${system}: ${fsName}`,
        reason: `the folder has ${candidates.length} games, and is one ROM here; move them out of it`
      })
    }
  }
  return games.sort((a, b) => a.id < b.id ? -1 : 1)
}
