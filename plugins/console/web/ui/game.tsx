import { Cover, type Rom, nameOf } from './cover.tsx'

interface GameProps {
  /** Undefined while it loads. */
  rom: Rom | undefined
  /** True in a grid, which has the focus itself. */
  isCell?: boolean
  isFavorite?: boolean
  /** True among games of one platform, which show their year instead. */
  hasYear?: boolean
}

function noteOf ({ platform_display_name: platform, metadatum }: Rom, hasYear: boolean): string {
  if (!hasYear) return platform
  const { first_release_date: released } = metadatum
  return released === null ? '' : String(new Date(released).getUTCFullYear())
}

/** One game: its cover, name, and platform or year, as a link to its page. */
export function Game ({ rom, isCell = false, isFavorite, hasYear = false }: GameProps) {
  if (rom === undefined) return <span class='game' aria-hidden><span class='cover skeleton' /></span>
  return (
    <a class='game' href={`roms/${rom.id}`} tabIndex={isCell ? -1 : undefined} draggable={false}>
      <Cover rom={rom} isFavorite={isFavorite} />
      <span class='game-name'>{nameOf(rom)}</span>
      <span class='game-note'>{noteOf(rom, hasYear)}</span>
    </a>
  )
}
