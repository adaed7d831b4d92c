import { access, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type Game, readGamelist, readPegasus } from './read.ts'

/** The server's report about one exported file. */
interface ExportedFile {
  platform: string
  path: string
  written: boolean
}

const READERS = [
  { route: 'gamelist-xml', read: readGamelist },
  { route: 'pegasus', read: readPegasus }
]

function readSetting (name: string): string {
  const value = process.env[name]
  if (value === undefined || value === '') throw new Error(`Set ${name}; the README says to what`)
  return value
}

/** Converts the server's path to a local one: `SVC_LIBRARY_MAP=/library=/mnt/roms` for a server in a container. */
function toLocalPath (path: string): string {
  const [theirs = '', ours = ''] = (process.env.SVC_LIBRARY_MAP ?? '').split('=')
  return theirs !== '' && path.startsWith(`${theirs}/`) ? ours + path.slice(theirs.length) : path
}

async function exportLibrary (route: string, platforms: readonly string[]): Promise<ExportedFile[]> {
  const reply = await fetch(`${readSetting('SVC_URL').replace(/\/$/, '')}/api/export/${route}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${readSetting('SVC_TOKEN')}`, 'content-type': 'application/json' },
    body: JSON.stringify({ platforms })
  })
  if (!reply.ok) throw new Error(`The server answered ${reply.status}: ${await reply.text()}`)
  const { files, errors } = await reply.json() as { files: ExportedFile[], errors: { path: string, reason: string }[] }
  for (const { path, reason } of errors) console.error(`${path}: ${reason}`)
  return files
}

async function countMissing (games: readonly Game[], folder: string): Promise<number> {
  const paths = games.flatMap(({ path, media }) => [path, ...media])
  const found = await Promise.all(paths.map((path) => access(join(folder, path)).then(() => true, () => false)))
  return found.filter((isThere) => !isThere).length
}

for (const { route, read } of READERS) {
  for (const { platform, path, written } of await exportLibrary(route, process.argv.slice(2))) {
    const file = toLocalPath(path)
    const games = read(await readFile(file, 'utf8'))
    const media = games.reduce((sum, game) => sum + game.media.length, 0)
    const missing = await countMissing(games, dirname(file))
    console.log(`${platform}: ${games.length} games, ${media} media, ${missing} of these files missing, ` +
      `${written ? 'written' : 'unchanged'}: ${file}`)
  }
}
