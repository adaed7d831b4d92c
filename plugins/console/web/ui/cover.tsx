import copy from 'lucide/dist/esm/icons/copy.mjs'
import heart from 'lucide/dist/esm/icons/heart.mjs'
import shield from 'lucide/dist/esm/icons/shield-check.mjs'
import unplug from 'lucide/dist/esm/icons/unplug.mjs'
import { useEffect, useRef, useState } from 'preact/hooks'
import { isReachable } from '../api/connection.ts'
import type { components } from '../api/schema.d.ts'
import { addressOf } from '../base.ts'
import { texts } from '../i18n/language.ts'
import { useFadeIn } from './fade-in.ts'
import { Icon } from './icon.tsx'
import { Badge } from './state.tsx'

export type Rom = components['schemas']['SimpleRom']

/** Returns the name that people know a ROM by: that of a provider, else its file's. */
export const nameOf = ({ name, fs_name_no_tags: bare, fs_name: file }: Pick<Rom, 'name' | 'fs_name_no_tags' | 'fs_name'>): string =>
  name || bare || file

/** Returns the address of a stored picture, which the server gives without the path of the base URL. */
export const pictureOf = (path: string): string => addressOf(path.replace(/^\//, ''))

type Pictured = Pick<Rom, 'name' | 'fs_name_no_tags' | 'fs_name' | 'path_cover_small' | 'path_cover_large' | 'missing_from_fs' | 'sibling_roms'> &
  Partial<Pick<Rom, 'dump_status'>>

interface CoverProps {
  rom: Pictured
  /** True for a cover that stands alone, which is announced and shown in full size. */
  isLarge?: boolean
  isFavorite?: boolean
}

/** The cover of a ROM, or its name if it has none. A cover that leaves the page before it arrived is cancelled. */
export function Cover ({ rom, isLarge = false, isFavorite = false }: CoverProps) {
  const { path_cover_small: small, path_cover_large: large } = rom
  const name = nameOf(rom)
  const path = isLarge ? large || small : small || large
  const [failed, setFailed] = useState('')
  const image = useRef<HTMLImageElement>(null)
  const fadeIn = useFadeIn()
  const { value: isOnline } = isReachable
  // A cover that failed while the server was away is loaded again.
  useEffect(() => { if (isOnline) setFailed('') }, [isOnline])
  useEffect(() => () => { if (image.current?.complete === false) image.current.src = '' }, [])
  return (
    <span class='cover'>
      {(path === '' || failed === path) && <span class='cover-title' aria-hidden={!isLarge}>{name}</span>}
      {path !== '' && failed !== path && (
        <img
          key={path} ref={image} src={pictureOf(path)} alt={isLarge ? texts().library.coverOf(name) : ''} decoding='async'
          draggable={false} onLoad={fadeIn} onError={() => { setFailed(path) }}
        />
      )}
      <CoverBadges rom={rom} isFavorite={isFavorite} />
    </span>
  )
}

interface BadgesProps { rom: Pictured, isFavorite: boolean }

/** The marks of a ROM: missing from disk, favourite, verified dump, other versions. */
export function CoverBadges ({ rom, isFavorite }: BadgesProps) {
  const { missing_from_fs: isMissing, sibling_roms: siblings, dump_status: dump } = rom
  const isVerified = dump === 'verified'
  if (!isMissing && !isFavorite && !isVerified && siblings.length === 0) return null
  const { library, list: { badges } } = texts()
  return (
    <span class='cover-badges'>
      {isMissing && <Badge><Icon node={unplug} label={library.missing} /></Badge>}
      {isFavorite && <Badge><Icon node={heart} label={badges.favorite} /></Badge>}
      {isVerified && <Badge><Icon node={shield} label={badges.verified} /></Badge>}
      {siblings.length > 0 && <Badge><Icon node={copy} label={library.hasSiblings} /></Badge>}
    </span>
  )
}
