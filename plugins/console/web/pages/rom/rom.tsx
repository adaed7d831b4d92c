import download from 'lucide/dist/esm/icons/download.mjs'
import ghost from 'lucide/dist/esm/icons/ghost.mjs'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import type { components } from '../../api/schema.d.ts'
import { format, texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { LinkButton } from '../../ui/button.tsx'
import { Cover, nameOf } from '../../ui/cover.tsx'
import { Empty, Failed, Skeleton } from '../../ui/state.tsx'

type DetailedRom = components['schemas']['DetailedRom']

function Facts ({ rom }: { rom: DetailedRom }) {
  const { rom: words } = texts().library
  const { metadatum: { genres, companies } } = rom
  const { bytes, list } = format()
  const facts: [string, string][] = [
    [words.platform, rom.platform_display_name], [words.file, rom.fs_name], [words.size, bytes(rom.fs_size_bytes)],
    [words.genres, list(genres)], [words.companies, list(companies)], [words.regions, list(rom.regions)], [words.languages, list(rom.languages)]
  ]
  return (
    <dl class='rom-facts'>
      {facts.filter(([, value]) => value !== '').map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} value`}>{value}</dd>])}
    </dl>
  )
}

/** One game: cover, summary, facts and the download. */
export default function RomPage ({ id }: { id: string }) {
  const { library } = texts()
  const { data: { value: rom }, failure: { value: failure } } = useResource(`rom ${id}`,
    (signal) => call(api.GET('/api/roms/{id}', { params: { path: { id: Number(id) } }, signal })),
    { 'rom:updated': (changed) => String(changed.id) === id })
  useTitle(rom === undefined ? undefined : nameOf(rom))
  if (rom === undefined && failure?.status === 404) return <Empty isPage icon={ghost} title={library.rom.notFound.title} text={library.rom.notFound.text} />
  if (rom === undefined) return failure === null ? <div class='rom'><Skeleton height='22rem' /></div> : <Failed failure={failure} />
  return (
    <article class='rom'>
      <Cover rom={rom} isLarge />
      <div class='rom-text'>
        <h1>{nameOf(rom)}</h1>
        {rom.summary !== null && <p class='soft'>{rom.summary}</p>}
        <div class='cluster'>
          <LinkButton kind='primary' icon={download} target='_top' href={`api/roms/${rom.id}/content/${encodeURIComponent(rom.fs_name)}`}>
            {library.rom.download}
          </LinkButton>
        </div>
        <Facts rom={rom} />
      </div>
    </article>
  )
}
