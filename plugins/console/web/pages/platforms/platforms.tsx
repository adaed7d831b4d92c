import gamepad from 'lucide/dist/esm/icons/gamepad-2.mjs'
import { type Platform, usePlatforms } from '../../api/platforms.ts'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { format, texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { Cover } from '../../ui/cover.tsx'
import { Empty, Loaded, Skeleton } from '../../ui/state.tsx'

const SHOWN = 3

/** A platform with its newest covers. */
function PlatformCard ({ platform: { id, slug, display_name: name, rom_count: count, fs_size_bytes: bytes } }: { platform: Platform }) {
  const { data } = useResource(`platform-art ${id} ${count}`, (signal) => call(api.GET('/api/roms', {
    params: {
      query: {
        platform_ids: [id], limit: SHOWN, order_by: 'created_at', order_dir: 'desc',
        with_total: false, with_char_index: false, with_filter_values: false, with_rom_id_index: false
      }
    },
    signal
  })))
  const roms = data.value?.items ?? []
  return (
    <a class='platform' href={`platforms/${encodeURIComponent(slug)}`}>
      <span class='platform-art' aria-hidden>
        {Array.from({ length: SHOWN }, (_, index) => {
          const rom = roms[index]
          return rom === undefined ? <span key={index} class='cover' /> : <Cover key={index} rom={{ ...rom, sibling_roms: [], missing_from_fs: false }} />
        })}
      </span>
      <span class='platform-name'>{name}</span>
      <span class='platform-facts'><span>{texts().common.games(count)}</span><span class='number'>{format().bytes(bytes)}</span></span>
    </a>
  )
}

/** All platforms of the library. */
export default function Platforms () {
  const { library } = texts()
  useTitle(library.platforms)
  const platforms = usePlatforms()
  return (
    <>
      <div class='page-head'><h1>{library.platforms}</h1></div>
      <Loaded resource={platforms} skeleton={<div class='platforms'>{[1, 2, 3].map((key) => <Skeleton key={key} height='16rem' />)}</div>}>
        {(all) => {
          const filled = all.filter(({ rom_count: count }) => count > 0)
          if (filled.length === 0) return <Empty icon={gamepad} title={library.noPlatforms.title} text={library.noPlatforms.text} />
          return <div class='platforms'>{filled.map((platform) => <PlatformCard key={platform.id} platform={platform} />)}</div>
        }}
      </Loaded>
    </>
  )
}
