import cpu from 'lucide/dist/esm/icons/cpu.mjs'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type Platform, usePlatforms } from '../../api/platforms.ts'
import { api, call } from '../../api/client.ts'
import { useResource } from '../../api/resource.ts'
import { holds } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { useTitle } from '../../navigate.ts'
import { Cover } from '../../ui/cover.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Badge, Loaded, Skeleton } from '../../ui/state.tsx'
import { NO_EXTRAS } from '../library/game-pages.ts'
import { EmptyLibrary } from '../upload/empty-library.tsx'
import { markOf } from './mark.ts'

const SHOWN = 4

/** True once an element has been near the viewport. */
function useSeen (element: { current: Element | null }): boolean {
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (element.current === null) return
    const observer = new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting !== true) return
      setSeen(true)
      observer.disconnect()
    }, { rootMargin: '300px' })
    observer.observe(element.current)
    return () => { observer.disconnect() }
  }, [])
  return isSeen
}

/** The newest covers of a platform. */
function Art ({ id, count }: { id: number, count: number }) {
  const { data } = useResource(`platform-art ${id} ${count}`, async (signal) => (await call(api.GET('/api/roms', {
    params: { query: { ...NO_EXTRAS, platform_ids: [id], limit: SHOWN, order_by: 'created_at', order_dir: 'desc' } }, signal
  }))).items)
  const pictured = (data.value ?? []).filter(({ path_cover_small: small }) => small !== '')
  const plain = { sibling_roms: [], missing_from_fs: false, dump_status: null }
  return <>{pictured.map((rom) => <Cover key={rom.id} rom={{ ...rom, ...plain }} />)}</>
}

/** A platform with its mark, newest covers and numbers. */
function PlatformCard ({ platform }: { platform: Platform }) {
  const { id, slug, display_name: name, rom_count: count, fs_size_bytes: bytes, firmware } = platform
  const { common, library } = texts()
  const card = useRef<HTMLAnchorElement>(null)
  const isSeen = useSeen(card)
  const { letters, hue } = markOf(slug, name)
  const gone = firmware.filter(({ missing_from_fs: isMissing }) => isMissing).map(({ file_name: file }) => file)
  return (
    <a ref={card} class='platform' href={`platforms/${encodeURIComponent(slug)}`}>
      <span class='platform-art' aria-hidden style={{ '--hue': String(hue) }}>
        <span class='platform-mark'>{letters}</span>
        {isSeen && <span class='platform-covers'><Art id={id} count={count} /></span>}
      </span>
      <span class='platform-text'>
        <span class='platform-name'>{name}</span>
        <span class='platform-facts'><span class='number'>{common.games(count)}</span><span class='number'>{format().bytes(bytes)}</span></span>
        {gone.length > 0 && holds('firmware.read') && (
          <span class='platform-badge' title={library.firmwareMissing(gone.join(', '))}>
            <Badge kind='warning'><Icon node={cpu} />{library.firmware}</Badge>
          </span>
        )}
      </span>
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
      <Loaded resource={platforms} skeleton={<div class='platforms'>{[1, 2, 3, 4].map((key) => <Skeleton key={key} height='13rem' />)}</div>}>
        {(all) => {
          const filled = all.filter(({ rom_count: count }) => count > 0)
          if (filled.length === 0) return <EmptyLibrary />
          return (
            <div class='platforms'>{filled.map((platform) => <PlatformCard key={platform.id} platform={platform} />)}</div>
          )
        }}
      </Loaded>
    </>
  )
}
