import heart from 'lucide/dist/esm/icons/heart.mjs'
import star from 'lucide/dist/esm/icons/star.mjs'
import download from 'lucide/dist/esm/icons/download.mjs'
import { useState } from 'preact/hooks'
import { accountOf, holds, isGuest } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { IconButton, LinkButton } from '../../ui/button.tsx'
import { nameOf } from '../../ui/cover.tsx'
import { Badge } from '../../ui/state.tsx'
import { Icon } from '../../ui/icon.tsx'
import { tellFailure } from '../../ui/toast.tsx'
import { downloadOf } from './download-address.ts'
import { useFavorite } from './favorites.ts'
import { RomMenu } from './rom-menu.tsx'
import type { DetailedRom } from './rom-data.ts'

const DUMP_KINDS = { verified: 'success', misnamed: 'warning', bad: 'danger', unknown: undefined } as const

/** The heart that makes a game a favourite. */
function Favorite ({ rom }: { rom: DetailedRom }) {
  const { actions } = texts().rom
  const { isFavorite, isReady, toggle } = useFavorite(rom.id)
  const [isBusy, setBusy] = useState(false)
  const change = () => {
    setBusy(true)
    toggle()
      .catch(tellFailure)
      .finally(() => { setBusy(false) })
  }
  return (
    <span class='rom-heart' data-on={isFavorite ? '' : undefined}>
      <IconButton
        icon={heart}
        isBlocked={!isReady}
        isBusy={isBusy}
        aria-pressed={isFavorite}
        label={isFavorite ? actions.unfavorite : actions.favorite}
        onClick={change}
      />
    </span>
  )
}

/** The year, rating and state of the dump, each if it is known. */
function Line ({ rom }: { rom: DetailedRom }) {
  const { dump } = texts().rom
  const {
    metadatum: { first_release_date: released, average_rating: rating },
    dump_status: status,
    revision,
    regions
  } = rom
  return (
    <p class='rom-line'>
      <a href={`platforms/${rom.platform_slug}`}>{rom.platform_display_name}</a>
      {released !== null && <span class='number'>{new Date(released).getUTCFullYear()}</span>}
      {rating !== null && (
        <span class='rom-rating number'>
          <Icon node={star} />
          {format().number(Math.round(rating))}
        </span>
      )}
      {regions.slice(0, 3).map((region) => <Badge key={region}>{region}</Badge>)}
      {revision !== null && revision !== '' && <Badge>{`Rev ${revision}`}</Badge>}
      {status !== null && <Badge kind={DUMP_KINDS[status]}>{dump[status]}</Badge>}
    </p>
  )
}

/** The name of a game and what can be done with it. */
export function RomHead ({ rom }: { rom: DetailedRom }) {
  const { actions } = texts().rom
  const account = accountOf()
  return (
    <header class='rom-head'>
      <div class='rom-title'>
        <h1>{nameOf(rom)}</h1>
        <Line rom={rom} />
      </div>
      <div class='rom-actions'>
        {!rom.missing_from_fs && rom.files.length > 0 && (
          <LinkButton kind='primary' icon={download} target='_top' href={downloadOf(rom)}>
            {actions.download(format().bytes(rom.fs_size_bytes))}
          </LinkButton>
        )}
        {account !== null && !isGuest(account) && holds('collections.write') && <Favorite rom={rom} />}
        <RomMenu rom={rom} />
      </div>
    </header>
  )
}
