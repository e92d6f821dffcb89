// What the business sells and uses. Article numbers and GTINs follow from the order: add at the end of a group.
export interface DemoProduct {
  name: string;
  netPrice: number;
  unitCode?: string;
  description?: string;
  active?: boolean;
}

/** Of a container product, what the containers of its kind have in common. */
export interface DemoContainer extends DemoProduct {
  container: {
    cultureSystem: string;
    material: string;
    color: string;
    heightInCm: number;
    diameterInCm?: number;
    lengthInCm?: number;
    widthInCm?: number;
    volumeInLitres: number;
  };
}

/** The name begins with the botanical name, by which plants find their product. */
export const plantProducts: readonly DemoProduct[] = [
  { name: 'Aglaonema commutatum 60 cm', netPrice: 24.9 },
  { name: 'Anthurium andraeanum 50 cm', netPrice: 19.95 },
  { name: 'Araucaria heterophylla 120 cm', netPrice: 64 },
  {
    name: 'Aspidistra elatior 70 cm',
    netPrice: 39.9,
    description: 'Verträgt dunkle Flure und trockene Heizungsluft.',
  },
  { name: 'Asplenium nidus 60 cm', netPrice: 27.5 },
  { name: 'Beaucarnea recurvata 120 cm', netPrice: 89 },
  { name: 'Chamaedorea elegans 90 cm', netPrice: 32.9 },
  { name: 'Clusia rosea 130 cm', netPrice: 74.5 },
  { name: 'Dracaena marginata 150 cm', netPrice: 59.9 },
  {
    name: 'Dracaena trifasciata 80 cm',
    netPrice: 29.9,
    description: 'Fast unverwüstlich; alle drei Wochen gießen genügt.',
  },
  { name: 'Dypsis lutescens 180 cm', netPrice: 84.9 },
  { name: 'Epipremnum aureum Ampel', netPrice: 17.5 },
  { name: 'Ficus benjamina 200 cm', netPrice: 119 },
  { name: 'Ficus elastica 160 cm', netPrice: 79 },
  { name: 'Ficus lyrata 180 cm', netPrice: 129 },
  {
    name: 'Howea forsteriana 220 cm',
    netPrice: 189,
    description: 'Die klassische Hotelpalme, langsam wachsend.',
  },
  { name: 'Monstera deliciosa 120 cm', netPrice: 79.9 },
  { name: 'Nephrolepis exaltata 50 cm', netPrice: 14.9 },
  { name: 'Pachira aquatica 150 cm', netPrice: 69.9 },
  { name: 'Rhapis excelsa 160 cm', netPrice: 149 },
  { name: 'Schefflera arboricola 140 cm', netPrice: 54.9 },
  { name: 'Spathiphyllum wallisii 70 cm', netPrice: 22.5 },
  { name: 'Strelitzia nicolai 220 cm', netPrice: 159 },
  { name: 'Yucca elephantipes 170 cm', netPrice: 69 },
  { name: 'Zamioculcas zamiifolia 80 cm', netPrice: 34.9 },
  { name: 'Laurus nobilis Hochstamm 150 cm', netPrice: 98 },
  { name: 'Olea europaea Hochstamm 180 cm', netPrice: 179 },
  {
    name: 'Ilex crenata Kugel 60 cm',
    netPrice: 84,
    description: 'Ersatz für Buchsbaum, nicht anfällig für den Zünsler.',
  },
  {
    name: 'Buxus sempervirens Kugel 50 cm',
    netPrice: 59,
    active: false,
    description: 'Ausgelaufen (Buchsbaumzünsler).',
  },
];

export const containerProducts: readonly DemoContainer[] = [
  {
    name: 'Hydrogefäß rund 40',
    netPrice: 64.9,
    container: {
      cultureSystem: 'HYDROCULTURE',
      material: 'PLASTIC',
      color: 'anthrazit',
      heightInCm: 38,
      diameterInCm: 40,
      volumeInLitres: 32,
    },
  },
  {
    name: 'Hydrogefäß rund 60',
    netPrice: 118,
    container: {
      cultureSystem: 'HYDROCULTURE',
      material: 'FIBREGLASS',
      color: 'weiß',
      heightInCm: 55,
      diameterInCm: 60,
      volumeInLitres: 105.5,
    },
  },
  {
    name: 'Hydrotrog 80 × 40',
    netPrice: 149,
    container: {
      cultureSystem: 'HYDROCULTURE',
      material: 'FIBREGLASS',
      color: 'lichtgrau',
      heightInCm: 45,
      lengthInCm: 80,
      widthInCm: 40,
      volumeInLitres: 110,
    },
  },
  {
    name: 'Raumteiler 120 × 35 mit Bewässerung',
    netPrice: 329,
    container: {
      cultureSystem: 'SELF_WATERING',
      material: 'METAL',
      color: 'schwarz matt',
      heightInCm: 85,
      lengthInCm: 120,
      widthInCm: 35,
      volumeInLitres: 140,
    },
  },
  {
    name: 'Säule quadratisch 40 mit Bewässerung',
    netPrice: 139,
    container: {
      cultureSystem: 'SELF_WATERING',
      material: 'PLASTIC',
      color: 'schiefergrau',
      heightInCm: 75,
      lengthInCm: 40,
      widthInCm: 40,
      volumeInLitres: 42.5,
    },
  },
  {
    name: 'Tischgefäß 18',
    netPrice: 19.9,
    container: {
      cultureSystem: 'SUBSTRATE',
      material: 'CERAMIC',
      color: 'petrol',
      heightInCm: 17,
      diameterInCm: 18,
      volumeInLitres: 2.8,
    },
  },
  {
    name: 'Keramikübel Handarbeit 45',
    netPrice: 98,
    container: {
      cultureSystem: 'SOIL',
      material: 'CERAMIC',
      color: 'ochsenblut',
      heightInCm: 42,
      diameterInCm: 45,
      volumeInLitres: 38,
    },
  },
  {
    name: 'Terrassenkübel Eiche 60',
    netPrice: 214,
    container: {
      cultureSystem: 'SOIL',
      material: 'WOOD',
      color: 'Eiche geölt',
      heightInCm: 58,
      lengthInCm: 60,
      widthInCm: 60,
      volumeInLitres: 160,
    },
  },
  {
    name: 'Terrassentrog Faserzement 100',
    netPrice: 187.5,
    container: {
      cultureSystem: 'SOIL',
      material: 'STONE',
      color: 'betongrau',
      heightInCm: 50,
      lengthInCm: 100,
      widthInCm: 45,
      volumeInLitres: 175,
    },
  },
];

export const substrateProducts: readonly DemoProduct[] = [
  { name: 'Blähton 8/16, Sack 50 l', netPrice: 21.9 },
  { name: 'Mineralisches Substrat fein, Sack 25 l', netPrice: 24.5 },
  { name: 'Kübelpflanzenerde torffrei, Sack 40 l', netPrice: 11.9 },
  { name: 'Zierkies weiß 4/8', netPrice: 1.35, unitCode: 'KGM' },
];

export const fertilizerProducts: readonly DemoProduct[] = [
  { name: 'Flüssigdünger Grünpflanzen 7-3-6', netPrice: 6.8, unitCode: 'LTR' },
  { name: 'Ionenaustauschdünger für Hydrokultur', netPrice: 14.25, unitCode: 'LTR' },
  { name: 'Langzeitdünger Terrasse, 6 Monate', netPrice: 9.9, unitCode: 'KGM' },
];

export const accessoryProducts: readonly DemoProduct[] = [
  { name: 'Wasserstandsanzeiger 30 cm', netPrice: 4.95 },
  { name: 'Kulturtopf 22/19', netPrice: 3.2 },
  { name: 'Rankstab Kokos 120 cm', netPrice: 6.5 },
  { name: 'Pflanzenlampe LED 24 W', netPrice: 78 },
  { name: 'Nützlinge gegen Spinnmilben (Phytoseiulus persimilis), 1000 Tiere', netPrice: 26.4 },
  { name: 'Untersetzer 45 cm', netPrice: 8.9, active: false },
];

export const serviceProducts: readonly DemoProduct[] = [
  {
    name: 'Pflegebesuch',
    netPrice: 46,
    unitCode: 'E48',
    description: 'Gießen, düngen, säubern, schneiden, auf Schädlinge prüfen.',
  },
  { name: 'Pflegestunde Fachkraft', netPrice: 54.5, unitCode: 'HUR' },
  { name: 'Umtopfen bis 60 l', netPrice: 38, unitCode: 'E48' },
  { name: 'Überwinterung Kübelpflanze', netPrice: 14.9, unitCode: 'MON' },
  { name: 'Miete Begrünung je Pflanze', netPrice: 6.9, unitCode: 'MON' },
  { name: 'Entsorgung Altpflanze mit Substrat', netPrice: 12.5 },
  { name: 'Lichtmessung und Standortberatung', netPrice: 95, unitCode: 'E48' },
  { name: 'Anfahrt Stadtgebiet', netPrice: 24.9, unitCode: 'E48' },
  { name: 'Anfahrt Umland', netPrice: 39.5, unitCode: 'E48' },
];
