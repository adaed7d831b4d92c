import trophy from 'lucide/dist/esm/icons/trophy.mjs'
import { useState } from 'preact/hooks'
import { accountOf } from '../../api/session.ts'
import { format, texts } from '../../i18n/language.ts'
import { Button } from '../../ui/button.tsx'
import { pictureOf } from '../../ui/cover.tsx'
import { Icon } from '../../ui/icon.tsx'
import { listAchievements } from './achievement-list.ts'
import { Section } from './section.tsx'
import type { DetailedRom } from './rom-data.ts'

const SHOWN = 6

/** The achievements of a game, earned ones first. */
export function Achievements ({ rom }: { rom: DetailedRom }) {
  const { achievements: words } = texts().rom
  const [isWhole, setWhole] = useState(false)
  const { merged_ra_metadata: metadata, ra_id: raId } = rom
  const progression = accountOf()?.ra_progression
  const all = listAchievements({ merged_ra_metadata: metadata, ra_id: raId, ra_progression: progression })
  if (all.length === 0) return null
  const earned = all.filter((one) => one.earned !== null).length
  return (
    <Section
      title={words.title}
      note={progression == null ? words.count(all.length) : words.earned(earned, all.length)}
    >
      {earned > 0 && <progress class='rom-progress' value={earned} max={all.length} aria-label={words.title} />}
      <ul class='rom-achievements'>
        {(isWhole ? all : all.slice(0, SHOWN)).map(({ id, title, description, points, picture, earned: date }) => (
          <li key={id} data-earned={date === null ? undefined : ''}>
            {picture === '' ? <Icon node={trophy} /> : <img src={pictureOf(picture)} alt='' loading='lazy' />}
            <div>
              <strong>{title}</strong>
              <p class='soft'>{description}</p>
              <p class='faint'>
                {[
                  points > 0 ? words.points(points) : '',
                  date === null ? '' : words.on(format().date(date.replace(' ', 'T')))
                ]
                  .filter(Boolean)
                  .join(' · ')}
              </p>
            </div>
          </li>
        ))}
      </ul>
      {all.length > SHOWN && !isWhole && (
        <Button kind='quiet' isSmall onClick={() => { setWhole(true) }}>{words.showAll}</Button>
      )}
    </Section>
  )
}
