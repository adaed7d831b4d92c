import library from 'lucide/dist/esm/icons/library-big.mjs'
import { pictureOf } from '../../ui/cover.tsx'
import { useFadeIn } from '../../ui/fade-in.ts'
import { Icon } from '../../ui/icon.tsx'

const TILES = 4

interface Pictured {
  path_cover_small: string | null
  path_cover_large: string | null
  path_covers_small: readonly string[]
}

const Tile = ({ path }: { path: string }) => (
  <img src={pictureOf(path)} alt='' loading='lazy' decoding='async' draggable={false} onLoad={useFadeIn()} />
)

/** The picture of a collection: its own cover, else four covers of its ROMs. */
export function Mosaic ({ collection }: { collection: Pictured }) {
  const { path_cover_small: small, path_cover_large: large, path_covers_small: covers } = collection
  const own = large || small
  const tiles = covers.filter((path) => path !== '').slice(0, covers.length >= TILES ? TILES : 1)
  if (own) return <span class='mosaic' aria-hidden><Tile key={own} path={own} /></span>
  if (tiles.length === 0) return <span class='mosaic mosaic-empty' aria-hidden><Icon node={library} /></span>
  return <span class='mosaic' data-tiles={tiles.length} aria-hidden>{tiles.map((path) => <Tile key={path} path={path} />)}</span>
}
