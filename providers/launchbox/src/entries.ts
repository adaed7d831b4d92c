import { type Fields, readId, readText } from '@svc/plugin-sdk/readers'
import { type XmlElement, readXmlRecords, xmlChildren } from '@svc/plugin-sdk/xml'
import { createHash } from 'node:crypto'
import type { LaunchBoxContext } from './config.ts'
import { listForms, toFileName } from './names.ts'
import { type Texts, readRecord, toGameFields } from './records.ts'

/** Limit for one platform file; the file of a large collection has some tens of MiB. */
const FILE_MAX_BYTES = 1024 ** 3
const COOPERATIVE = /co-?op/i

/** A game of the installation, with the dump's names of fields. */
export interface LocalEntry { readonly id: number | undefined, readonly fields: Fields, readonly region?: string }

/** The games of a platform by file names and by titles, in lower case; the first of equal ones counts. */
interface Entries { byFile: Map<string, LocalEntry>, byTitle: Map<string, LocalEntry> }

/** Names of fields in the dump, by the name in an installation, if the two differ. */
const DUMP_NAMES: Texts = {
  Title: 'Name', Notes: 'Overview', VideoUrl: 'VideoURL', Rating: 'ESRB', Genre: 'Genres',
  CommunityStarRating: 'CommunityRating', CommunityStarRatingTotalVotes: 'CommunityRatingCount'
}

/** Returns the path of a platform's games in the installation. */
export const entriesPath = (platform: string): string => `Data/Platforms/${toFileName(platform)}.xml`

/** Finds the installation's entry with this file name or title. */
export async function findEntry (
  fileName: string, platform: string | undefined, ctx: LaunchBoxContext
): Promise<LocalEntry | undefined> {
  if (platform === undefined) return undefined
  const { byFile, byTitle } = await ctx.memo(`entries ${platform}`, () => readEntries(platform, ctx))
  const name = fileName.toLowerCase()
  const forms = listForms(name)
  return [name, ...forms].map((key) => byFile.get(key)).find((entry) => entry !== undefined) ??
    [...forms, name].map((key) => byTitle.get(key)).find((entry) => entry !== undefined)
}

/** Returns an id below zero for a game that is not in the database. */
export function ownId ({ fields }: LocalEntry): number {
  const text = `${readText(fields, 'Platform')}/${readText(fields, 'Name')}`
  return -1 - createHash('sha1').update(text).digest().readUIntBE(0, 6)
}

async function readEntries (platform: string, ctx: LaunchBoxContext): Promise<Entries> {
  const entries: Entries = { byFile: new Map(), byTitle: new Map() }
  const file = entriesPath(platform)
  const { installation } = ctx.folders
  try {
    if (installation === undefined || !await installation.exists(file)) return entries
    for await (const record of readXmlRecords(installation.stream(file), { source: file, maxBytes: FILE_MAX_BYTES })) {
      for (const game of listGames(record)) addGame(entries, readRecord(game), platform)
    }
    return entries
  } catch (err) {
    ctx.signal.throwIfAborted()
    ctx.log.warn({ err, file }, 'file of the LaunchBox folder cannot be read and is skipped')
    return { byFile: new Map(), byTitle: new Map() }
  }
}

/** Lists the games at or below a record, at any depth. */
function listGames (record: XmlElement): XmlElement[] {
  return record.name === 'Game' ? [record] : xmlChildren(record).flatMap(listGames)
}

function addGame ({ byFile, byTitle }: Entries, texts: Texts, platform: string): void {
  const entry = toEntry(texts, platform)
  const fileName = (texts.ApplicationPath ?? '').split(/[\\/]/).at(-1)?.toLowerCase() ?? ''
  const keys = [[byFile, [fileName, ...listForms(fileName)]], [byTitle, [(texts.Title ?? '').toLowerCase()]]] as const
  for (const [map, names] of keys) for (const name of names) if (name !== '' && !map.has(name)) map.set(name, entry)
}

function toEntry (texts: Texts, platform: string): LocalEntry {
  // An installation writes 0 for an unknown number.
  const known = Object.entries(texts).filter(([, text]) => text !== '0')
  const fields = toGameFields(Object.fromEntries(known.map(([name, text]) => [DUMP_NAMES[name] ?? name, text])))
  return {
    id: readId(fields, 'DatabaseID'),
    fields: { ...fields, Platform: platform, ...COOPERATIVE.test(texts.PlayMode ?? '') && { Cooperative: 'true' } },
    region: texts.Region
  }
}
