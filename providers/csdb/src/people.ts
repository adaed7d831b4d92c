import { unique } from '@svc/plugin-sdk/readers'
import { type XmlElement, xmlChildren } from '@svc/plugin-sdk/xml'
import type { Metadata } from './metadata.ts'
import { listElements, textOf } from './text.ts'

/** Lists the releasers: groups and people. */
export function listReleasers (release: XmlElement): { groups: string[], people: string[] } {
  const releasers = listElements(release, 'ReleasedBy')
  const groups = releasers.flatMap((by) => xmlChildren(by, 'Group')).map((group) => textOf(group, 'Name'))
  const people = releasers.flatMap(listPeople).map((person) => textOf(person, 'Handle'))
  return { groups: unique(groups), people: unique(people) }
}

/** Lists the credits. CSDb gives a person's name at the first mention only, and just the id after that. */
export function listCredits (release: XmlElement): Metadata['credits'] {
  const credits = listElements(release, 'Credits', 'Credit')
  const people = [...listElements(release, 'ReleasedBy'), ...credits].flatMap(listPeople)
  const names = new Map(people.flatMap((person) => {
    const name = textOf(person, 'Handle')
    return name === undefined ? [] : [[textOf(person, 'ID'), name] as const]
  }))
  return credits.flatMap((credit) => {
    const [person] = listPeople(credit)
    const name = person && (textOf(person, 'Handle') ?? names.get(textOf(person, 'ID')))
    return name === undefined ? [] : [{ name, role: textOf(credit, 'CreditType') }]
  })
}

function listPeople (element: XmlElement): XmlElement[] {
  return xmlChildren(element).filter(({ name }) => name === 'Handle' || name === 'Scener')
}
