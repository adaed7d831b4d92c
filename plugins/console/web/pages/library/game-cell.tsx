import check from 'lucide/dist/esm/icons/check.mjs'
import { format, texts } from '../../i18n/language.ts'
import { Cover, CoverBadges, type Rom, nameOf } from '../../ui/cover.tsx'
import { Game } from '../../ui/game.tsx'
import { Icon } from '../../ui/icon.tsx'

interface CellProps {
  /** Undefined while it loads. */
  rom: Rom | undefined
  isFavorite: boolean
  isSelected: boolean
  /** True if all games of the list are of one platform. */
  isOnePlatform: boolean
  onSelect: () => void
}

const Tick = ({ rom, isSelected, onSelect }: Pick<CellProps, 'isSelected' | 'onSelect'> & { rom: Rom }) => (
  <button
    type='button' class='game-tick' tabIndex={-1} aria-pressed={isSelected} aria-label={texts().list.select(nameOf(rom))}
    onClick={(event) => { event.stopPropagation(); onSelect() }} onPointerDown={(event) => { event.stopPropagation() }}
  >
    <Icon node={check} />
  </button>
)

/** A game in the grid, which can be selected. */
export const GameCell = (props: CellProps) => (
  <div class='game-cell' data-selected={props.isSelected ? '' : undefined}>
    <Game rom={props.rom} isCell isFavorite={props.isFavorite} hasYear={props.isOnePlatform} />
    {props.rom !== undefined && <Tick rom={props.rom} isSelected={props.isSelected} onSelect={props.onSelect} />}
  </div>
)

/** A game as a row of the list. */
export function GameRow ({ rom, isFavorite, isSelected, onSelect }: CellProps) {
  if (rom === undefined) {
    return <div class='game-row' aria-hidden><span class='game-row-cover skeleton' /><span class='game-row-wait skeleton' /></div>
  }
  const { bytes, date, number } = format()
  const { average_rating: rating, first_release_date: released } = rom.metadatum
  return (
    <div class='game-row' data-selected={isSelected ? '' : undefined}>
      <Tick rom={rom} isSelected={isSelected} onSelect={onSelect} />
      <a class='game-row-link' href={`roms/${rom.id}`} tabIndex={-1} draggable={false}>
        <span class='game-row-cover'><Cover rom={{ ...rom, sibling_roms: [], missing_from_fs: false, dump_status: null }} /></span>
        <span class='game-row-name'><span class='game-row-title'>{nameOf(rom)}</span><span class='game-row-platform'>{rom.platform_display_name}</span></span>
        <CoverBadges rom={rom} isFavorite={isFavorite} />
        <span class='game-row-fact number'>{released === null ? '' : new Date(released).getUTCFullYear()}</span>
        <span class='game-row-fact number'>{rating === null ? '' : number(Math.round(rating))}</span>
        <span class='game-row-fact number'>{date(rom.created_at)}</span>
        <span class='game-row-fact number'>{bytes(rom.fs_size_bytes)}</span>
      </a>
    </div>
  )
}

/** The names of the columns of the list. */
export function ListHead () {
  const { columns } = texts().list
  return (
    <div class='list-head' aria-hidden>
      {[columns.released, columns.rating, columns.added, columns.size].map((name) => <span key={name} class='game-row-fact'>{name}</span>)}
    </div>
  )
}
