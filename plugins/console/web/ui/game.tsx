import { Cover, type Rom, nameOf } from './cover.tsx'

interface GameProps {
  /** Undefined while it loads. */
  rom: Rom | undefined
  /** True in a grid, which has the focus itself. */
  isCell?: boolean
  isFavorite?: boolean
}

/** One game: its cover, name and platform, as a link to its page. */
export function Game ({ rom, isCell = false, isFavorite }: GameProps) {
  if (rom === undefined) return <span class='game' aria-hidden><span class='cover skeleton' /></span>
  return (
    <a class='game' href={`roms/${rom.id}`} tabIndex={isCell ? -1 : undefined} draggable={false}>
      <Cover rom={rom} isFavorite={isFavorite} />
      <span class='game-name'>{nameOf(rom)}</span>
      <span class='game-note'>{rom.platform_display_name}</span>
    </a>
  )
}
