import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type Importer, type ImporterContext, type ImporterSettings, SourceError } from '../contract.ts'
import { type Folders, openFile } from './files.ts'
import { findAbsentKinds, LISTS } from './records/lists.ts'
import { createSource } from './records/source.ts'
import type { TableReader } from './tables/table-rows.ts'
import { readValues } from './values.ts'
import { readVersion } from './version.ts'

/** @throws SourceError if the settings name no source, or it cannot be read. */
export async function openRomm (settings: ImporterSettings, context: ImporterContext): Promise<Importer> {
  const given = ['database_url', 'dump', 'address'].filter((name) => settings[name] !== undefined)
  if (given.length !== 1) {
    throw new SourceError(`An import from RomM reads one source, and ${given.length === 0 ? 'none is' : `${given.join(' and ')} are`} given. ` +
      'Give one of --database-url-file, --dump and --address')
  }
  if (settings.address !== undefined) return await (await import('./api/open.ts')).openApi(settings, context)
  const tables = await openTables(settings, context)
  try {
    return await createImporter(tables, toFolders(settings.base_path), context)
  } catch (err) {
    await tables.close()
    throw err
  }
}

async function openTables ({ dump, database_url: address = '' }: ImporterSettings, context: ImporterContext): Promise<TableReader> {
  if (dump !== undefined) return await (await import('./dump/open-dump.ts')).openDump(dump, context)
  const url = parseAddress(address)
  // SQLAlchemy, which RomM uses, names the driver too: `mariadb+mariadbconnector://`.
  switch (url?.protocol.replace(/\+\w+:$|:$/, '')) {
    case 'postgres':
    case 'postgresql':
      return await (await import('./tables/postgres-rows.ts')).openPostgres(url, context.signal)
    case 'mariadb':
    case 'mysql':
      return await (await import('./tables/mysql-rows.ts')).openMysql(url, context.signal)
    default:
      throw new SourceError('The address of RomM\'s database must begin with mariadb://, mysql:// or postgresql://. ' +
        'Write special characters of user and password as %XX')
  }
}

/** Returns null for text that is no address, such as one with a `%` that begins no `%XX`. */
function parseAddress (address: string): URL | null {
  const url = URL.parse(address)
  try {
    decodeURIComponent(`${url?.username}${url?.password}${url?.pathname}`)
    return url
  } catch {
    return null
  }
}

function toFolders (basePath: string | undefined): Folders {
  if (basePath === undefined) return { assets: null, resources: null }
  return { assets: join(basePath, 'assets'), resources: join(basePath, 'resources') }
}

async function createImporter (tables: TableReader, folders: Folders, context: ImporterContext): Promise<Importer> {
  const version = await readVersion(tables)
  if (version.isNewer) {
    context.warn(`RomM's database has the revision ${version.revision}, which is newer than this import knows. ` +
      'Columns that it knows are read; compare the result with RomM')
  }
  const source = createSource(tables, folders, context)
  return {
    identity: await readIdentity(tables),
    title: `RomM ${version.release} (${version.revision}) in ${tables.title}`,
    absent: findAbsentKinds(source, version.release),
    list: (kind) => LISTS[kind](source),
    open: (file) => openFile(folders, file),
    close: () => tables.close()
  }
}

/** Names an installation by its first account, which a dump of it has too. */
async function readIdentity (tables: TableReader): Promise<string> {
  for await (const rows of tables.read('users', ['id', 'created_at'])) {
    const [first] = rows
    if (first === undefined) continue
    const created = readValues(first, () => {}).time('created_at') ?? first.created_at
    return `romm:${createHash('sha256').update(`${first.id} ${created}`).digest('hex').slice(0, 16)}`
  }
  throw new SourceError('RomM\'s database has no accounts. Check that the address or dump is the one RomM uses')
}
