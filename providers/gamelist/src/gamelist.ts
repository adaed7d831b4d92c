import { posix } from 'node:path'
import type { Context, Rom, RomPlatform } from '@svc/plugin-sdk'
import { type Entry, type Gamelist, parseGamelist } from './entries.ts'
import { MEDIA } from './media.ts'
import { resolveMediaPath } from './paths.ts'

const MAX_BYTES = 64 * 1024 * 1024
const NO_ENTRIES: Gamelist = { byPath: new Map(), byName: new Map(), byFolder: new Map() }

/** Returns the path of a platform's gamelist.xml, relative to the library. */
export const gamelistPath = ({ fs_path: folder }: RomPlatform): string => posix.join(folder, 'gamelist.xml')

/** Loads the platform's gamelist.xml once per scan. A missing or unreadable file yields no entries. */
export function loadGamelist (platform: RomPlatform, ctx: Context): Promise<Gamelist> {
  const file = gamelistPath(platform)
  return ctx.memo(`gamelist ${file}`, () => readGamelist(file, platform, ctx))
}

/** Finds the entry of a ROM by its path in the platform folder, else in its folder, else by its file or folder name. */
export function findEntry (rom: Rom, { byPath, byName, byFolder }: Gamelist): Entry | undefined {
  const path = posix.relative(rom.platform.fs_path, posix.join(rom.fs_path, rom.fs_name))
  return byPath.get(path) ?? findInside(byFolder.get(path) ?? []) ?? byName.get(rom.fs_name)
}

/** Returns the entry that starts the game in a folder: the only one, or the only playlist. Several games have none. */
function findInside (entries: readonly Entry[]): Entry | undefined {
  const playlists = entries.filter(({ path }) => posix.extname(path).toLowerCase() === '.m3u')
  const candidates = playlists.length > 0 ? playlists : entries
  return candidates.length === 1 ? candidates[0] : undefined
}

async function readGamelist (file: string, platform: RomPlatform, ctx: Context): Promise<Gamelist> {
  try {
    const text = await ctx.files.readText(file, MAX_BYTES)
    if (text === undefined) return NO_ENTRIES
    const gamelist = parseGamelist(text, file)
    warnOfOutsidePaths(gamelist, file, platform, ctx)
    return gamelist
  } catch (err) {
    ctx.signal.throwIfAborted()
    ctx.log.warn({ err, file }, 'gamelist.xml cannot be read and is skipped')
    return NO_ENTRIES
  }
}

function warnOfOutsidePaths ({ byPath }: Gamelist, file: string, platform: RomPlatform, ctx: Context): void {
  const refused: string[] = []
  for (const { text } of byPath.values()) {
    for (const element of MEDIA.flatMap(({ elements }): readonly string[] => elements)) {
      const path = text.get(element)
      if (path !== undefined && resolveMediaPath(platform.fs_path, path) === undefined) refused.push(path)
    }
  }
  if (refused.length === 0) return
  ctx.log.warn({ file, count: refused.length, first: refused[0] },
    'media outside the library are ignored; write their paths relative to the platform folder')
}
