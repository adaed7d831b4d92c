import folder from 'lucide/dist/esm/icons/folder.mjs'
import folderPlus from 'lucide/dist/esm/icons/folder-plus.mjs'
import { useState } from 'preact/hooks'
import { api, call } from '../../api/client.ts'
import { type Platform, usePlatforms } from '../../api/platforms.ts'
import { cache, useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Loaded, Notice, Skeleton } from '../../ui/state.tsx'
import { DropGames } from '../upload/drop-games.tsx'
import { FolderMeanings } from './folder-meanings.tsx'
import { LibraryDialog } from './library-dialog.tsx'
import type { Library } from './library-views.ts'

type Content = components['schemas']['SetupLibrary']
/** The most folders whose names a sentence lists. */
const SHOWN_MAX = 3
export const LIBRARIES = 'libraries'
export const CONTENT = 'setup-library'

/** Returns the folders of the stored platforms. The server lists those on disk only before the first scan. */
const toFolders = (platforms: readonly Platform[]): Content['existing_platforms'] => platforms
  .filter(({ rom_count: count }) => count > 0)
  .map(({ fs_slug: slug, rom_count: count }) => ({ fs_slug: slug, rom_count: count }))

/** Quotes a path for a shell. */
const quote = (path: string): string => `'${path.replaceAll("'", "'\\''")}'`

/** Says how folders get to where the server looks for platforms. */
function Misplaced ({ found, path }: { found: Content['misplaced_folders'][number], path: string | null }) {
  const { setup } = texts()
  const { library, roms_folder: place, folders } = found
  const parent = path?.replace(/\/[^/]*\/?$/, '') ?? ''
  const isPlace = path !== null && path.slice(parent.length + 1) === place
  return (
    <>
      <Notice kind='warning'>
        {setup.misplaced(library, format().list(folders.slice(0, SHOWN_MAX)), place)}
        {' '}
        {isPlace ? setup.misplacedParent(parent === '' ? '/' : parent) : setup.misplacedLink}
      </Notice>
      {path !== null && !isPlace && (
        <pre class='snippet'>
          {`mkdir ${quote(`${parent}/library`)}\nln -s ${quote(path)} ${quote(`${parent}/library/${place}`)}`}
        </pre>
      )}
    </>
  )
}

interface FoldersProps { found: Content['existing_platforms'], content: Content, libraries: readonly Library[] }

/** The platform folders of the libraries, those that no platform is known for last. */
function Folders ({ found, content, libraries }: FoldersProps) {
  const { setup } = texts()
  const { supported_platforms: supported, misplaced_folders: misplaced } = content
  const names = new Map(supported.map(({ fs_slug: slug, display_name: name }) => [slug, name]))
  const known = found.filter(({ fs_slug: slug }) => names.has(slug))
  const unknown = found.filter(({ fs_slug: slug }) => !names.has(slug))
  const pathOf = (library: string) => libraries.find(({ name }) => name === library)?.path ?? null
  if (found.length === 0) {
    return (
      <>
        {misplaced.map((one) => (
          <Misplaced key={one.library} found={one} path={pathOf(one.library)} />
        ))}
        {misplaced.length === 0 && <Notice>{setup.empty}</Notice>}
        {misplaced.length === 0 && <pre class='snippet'>{texts().upload.example}</pre>}
        <DropGames />
      </>
    )
  }
  return (
    <>
      <ul class='folder-list'>
        {known.map(({ fs_slug: slug, rom_count: count }) => (
          <li key={slug} class='folder'>
            <Icon node={folder} />
            <span class='row-text'>
              <strong>{names.get(slug)}</strong>
              <span class='faint'>{slug} · {setup.files(count)}</span>
            </span>
          </li>
        ))}
      </ul>
      {unknown.length > 0 && <FolderMeanings folders={unknown} platforms={supported} />}
    </>
  )
}

function LibraryRow ({ library, onChange }: { library: Library, onChange: () => void }) {
  const { setup } = texts()
  const { bytes } = format()
  const { name, path, is_available: isAvailable, is_writable: isWritable, problem, free_bytes: free } = library
  return (
    <li class='row'>
      <Icon node={folder} />
      <div class='row-text'>
        <div class='row-title'>
          <span class='library-path'>{path ?? name}</span>
          {!isWritable && <Badge>{setup.readOnly}</Badge>}
        </div>
        {isAvailable
          ? <p class='faint'>{[name, free === null ? '' : setup.free(bytes(free))].filter(Boolean).join(' · ')}</p>
          : <p class='row-problem'>{problem ?? setup.unavailable}</p>}
      </div>
      <div class='row-actions'><Button isSmall aria-label={setup.changeNamed(name)} onClick={onChange}>{setup.change}</Button></div>
    </li>
  )
}

/** The library folder: where it is, and what is in it. */
export function LibraryStep () {
  const { setup } = texts()
  const [edited, setEdited] = useState<Library | 'new' | null>(null)
  const libraries = useResource(LIBRARIES, (signal) => call(api.GET('/api/libraries', { signal })), { 'scan:done': true })
  const content = useResource(CONTENT, (signal) => call(api.GET('/api/setup/library', { params: { query: {} }, signal })))
  const platforms = usePlatforms()
  const onDisk = content.data.value?.existing_platforms ?? []
  const found = onDisk.length > 0 ? onDisk : toFolders(platforms.data.value ?? [])
  return (
    <>
      <div>
        <h1>{setup.library.title}</h1>
        <p class='soft setup-lead'>{setup.library.text}</p>
      </div>
      <section class='card panel'>
        <div class='panel-head'>
          <h2>{setup.library.folders}</h2>
          <Button isSmall icon={folderPlus} onClick={() => { setEdited('new') }}>{setup.addFolder}</Button>
        </div>
        <Loaded resource={libraries} skeleton={<Skeleton height='4rem' />}>
          {(all) => <ul class='rows'>{all.map((library) => <LibraryRow key={library.id} library={library} onChange={() => { setEdited(library) }} />)}</ul>}
        </Loaded>
      </section>
      <section class='card panel'>
        <div class='panel-head'>
          <h2>{setup.library.content}</h2>
          {found.length > 0 && <Badge kind='accent'>{setup.folders(found.length)}</Badge>}
        </div>
        <Loaded resource={content} skeleton={<Skeleton height='12rem' />}>
          {(read) => platforms.data.value === undefined
            ? <Skeleton height='12rem' />
            : <Folders found={found} content={read} libraries={libraries.data.value ?? []} />}
        </Loaded>
      </section>
      {edited !== null && (
        <LibraryDialog
          library={edited === 'new' ? null : edited} onClose={() => { setEdited(null) }}
          onSaved={() => {
            setEdited(null)
            cache.invalidate(LIBRARIES)
            cache.invalidate(CONTENT)
          }}
        />
      )}
    </>
  )
}
