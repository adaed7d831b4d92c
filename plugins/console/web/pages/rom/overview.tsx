import { useState } from 'preact/hooks'
import search from 'lucide/dist/esm/icons/search.mjs'
import youtube from 'lucide/dist/esm/icons/clapperboard.mjs'
import { holds } from '../../api/session.ts'
import { addressOf } from '../../base.ts'
import { storedFileOf } from '../../stored-file.ts'
import { texts } from '../../i18n/language.ts'
import { LinkButton, Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/state.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Manuals } from './manual/manuals.tsx'
import { Achievements } from './achievements.tsx'
import { TimeToBeat } from './time-to-beat.tsx'
import { Notes } from './notes.tsx'
import { PlayTime } from './play-time.tsx'
import { Screenshots } from './screenshots.tsx'
import { Section } from './section.tsx'
import { Soundtrack } from './soundtrack.tsx'
import { Versions } from './versions.tsx'
import type { DetailedRom } from './rom-data.ts'

/** Characters after which a description is cut, with a button that shows all of it. */
const SUMMARY_MAX = 700

function Summary ({ text }: { text: string }) {
  const { summary: words } = texts().rom
  const [isWhole, setWhole] = useState(false)
  const isLong = text.length > SUMMARY_MAX
  return (
    <div class='rom-summary'>
      <p data-cut={isLong && !isWhole ? '' : undefined}>{text}</p>
      {isLong && <Button kind='quiet' isSmall aria-expanded={isWhole} onClick={() => { setWhole(!isWhole) }}>{isWhole ? words.less : words.more}</Button>}
    </div>
  )
}

/** Tells why a page has little content, and what helps. */
function Hints ({ rom }: { rom: DetailedRom }) {
  const { rom: { missing, unidentified } } = texts()
  return (
    <>
      {rom.missing_from_fs && <Notice kind='warning'>{missing}</Notice>}
      {rom.is_unidentified && holds('roms.write') && (
        <section class='rom-unidentified'>
          <Icon node={search} />
          <div><h2>{unidentified.title}</h2><p class='soft'>{unidentified.text}</p></div>
          <LinkButton href={`roms/${rom.id}/match`}>{unidentified.action}</LinkButton>
        </section>
      )}
    </>
  )
}

function Films ({ rom }: { rom: DetailedRom }) {
  const { media: words } = texts().rom
  const { path_video: video, youtube_video_id: id } = rom
  if (video === null && (id === null || id === '')) return null
  return (
    <Section title={words.video}>
      {video !== null && <video class='rom-video' controls preload='metadata' src={addressOf(storedFileOf(video))} aria-label={words.video} />}
      {id !== null && id !== '' && (
        <LinkButton icon={youtube} target='_blank' rel='noreferrer' href={`https://www.youtube.com/watch?v=${encodeURIComponent(id)}`}>{words.youtube}</LinkButton>
      )}
    </Section>
  )
}

/** What a player wants to know about a game. Sections without content do not appear. */
export const Overview = ({ rom }: { rom: DetailedRom }) => (
  <div class='rom-overview'>
    <Hints rom={rom} />
    {rom.summary !== null && rom.summary !== '' && <Summary key={rom.id} text={rom.summary} />}
    <Screenshots rom={rom} />
    <Films rom={rom} />
    <PlayTime romId={rom.id} />
    <TimeToBeat rom={rom} />
    <Achievements rom={rom} />
    <Manuals rom={rom} />
    {rom.has_soundtrack && <Soundtrack rom={rom} />}
    <Versions rom={rom} />
    <Notes rom={rom} />
  </div>
)
