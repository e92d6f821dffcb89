// How the kinds of customers differ: opening hours, contacts, places of plants, and how often care comes.
export interface Kind {
  roles: readonly string[];
  openingHours: readonly { dayOfWeek: string; opens: string; closes: string }[];
  rooms: readonly string[];
  needsAppointment: boolean;
  /** Care comes every so many weeks. */
  weeksBetweenVisits: number;
  netPrice: number;
}

const weekdays = ['MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY'];
const everyDay = [...weekdays, 'SATURDAY', 'SUNDAY'];

function open(days: readonly string[], opens: string, closes: string) {
  return days.map((dayOfWeek) => ({ dayOfWeek, opens, closes }));
}

export const kinds = {
  hotel: {
    roles: ['Hausdame', 'Empfangsleitung', 'Haustechnik', 'Hoteldirektion'],
    openingHours: open(everyDay, '00:00', '24:00'),
    rooms: ['Rezeption', 'Sitzgruppe', 'Fahrstuhlvorraum', 'Flur', 'Frühstücksbuffet'],
    needsAppointment: false,
    weeksBetweenVisits: 1,
    netPrice: 389,
  },
  law: {
    roles: ['Büroleitung', 'Sekretariat', 'Partner'],
    openingHours: open(weekdays, '08:30', '17:30'),
    rooms: ['Empfang', 'Besprechungszimmer', 'Flur', 'Wartezone'],
    needsAppointment: true,
    weeksBetweenVisits: 2,
    netPrice: 164.5,
  },
  office: {
    roles: ['Facility-Management', 'Empfang', 'Einkauf', 'Assistenz des Vorstands'],
    openingHours: open(weekdays, '07:30', '18:30'),
    rooms: ['Empfang', 'Teeküche', 'Großraumbüro', 'Sitzungszimmer Elbe', 'Druckerraum', 'Fensterfront'],
    needsAppointment: false,
    weeksBetweenVisits: 2,
    netPrice: 276.9,
  },
  agency: {
    roles: ['Office-Management', 'Geschäftsführung', 'Feel-good-Management'],
    openingHours: open(weekdays, '09:00', '19:00'),
    rooms: ['Studio', 'Küche', 'Sofaecke', 'Telefonbox', 'Besprechung'],
    needsAppointment: false,
    weeksBetweenVisits: 3,
    netPrice: 149,
  },
  restaurant: {
    roles: ['Inhaber', 'Restaurantleitung', 'Küchenchef'],
    openingHours: [
      ...open(everyDay.slice(1), '11:30', '14:30'),
      ...open(['TUESDAY', 'WEDNESDAY', 'THURSDAY', 'SUNDAY'], '17:30', '23:00'),
      ...open(['FRIDAY', 'SATURDAY'], '17:30', '01:00'),
    ],
    rooms: ['Gastraum', 'Tresen', 'Eingang', 'Garderobe'],
    needsAppointment: true,
    weeksBetweenVisits: 2,
    netPrice: 118,
  },
  culture: {
    roles: ['Hausleitung', 'Gastronomie', 'Kasse und Aufsicht'],
    openingHours: [
      ...open(['TUESDAY', 'WEDNESDAY', 'FRIDAY', 'SATURDAY', 'SUNDAY'], '10:00', '18:00'),
      ...open(['THURSDAY'], '10:00', '21:00'),
    ],
    rooms: ['Tresen', 'Fensterplätze', 'Kasse', 'Treppenabsatz'],
    needsAppointment: true,
    weeksBetweenVisits: 2,
    netPrice: 132.75,
  },
  clinic: {
    roles: ['Pflegedienstleitung', 'Hygienefachkraft', 'Technischer Leiter', 'Einkauf'],
    openingHours: open(everyDay, '06:00', '21:00'),
    rooms: ['Wartebereich', 'Flur Süd', 'Aufenthaltsraum', 'Anmeldung', 'Besprechung'],
    needsAppointment: true,
    weeksBetweenVisits: 1,
    netPrice: 512.4,
  },
  practice: {
    roles: ['Praxismanagement', 'Anmeldung', 'Praxisinhaber'],
    openingHours: [
      ...open(weekdays, '08:00', '12:30'),
      ...open(['MONDAY', 'TUESDAY', 'THURSDAY'], '14:00', '18:00'),
    ],
    rooms: ['Wartezimmer', 'Anmeldung', 'Flur'],
    needsAppointment: true,
    weeksBetweenVisits: 3,
    netPrice: 89.9,
  },
  retail: {
    roles: ['Filialleitung', 'Verkauf', 'Inhaber'],
    openingHours: [...open(weekdays, '09:30', '18:30'), ...open(['SATURDAY'], '10:00', '16:00')],
    rooms: ['Verkaufsraum', 'Schaufenster', 'Kasse', 'Beratungsplatz'],
    needsAppointment: false,
    weeksBetweenVisits: 4,
    netPrice: 96,
  },
  care: {
    roles: ['Heimleitung', 'Hauswirtschaft', 'Haustechnik', 'Soziale Betreuung'],
    openingHours: open(everyDay, '08:00', '20:00'),
    rooms: ['Foyer', 'Speisesaal', 'Sitzecke', 'Flur', 'Therapieraum'],
    needsAppointment: false,
    weeksBetweenVisits: 2,
    netPrice: 214,
  },
} satisfies Record<string, Kind>;

export type KindName = keyof typeof kinds;
